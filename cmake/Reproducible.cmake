# SPDX-License-Identifier: MIT
# The same source gives the same file, wherever it is built: no build folder in
# debug information, no search path for the build tree's own libraries.
add_compile_options(
  -ffile-prefix-map=${CMAKE_BINARY_DIR}=build
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}=kstackrand)
set(CMAKE_SKIP_RPATH ON)
