# SPDX-License-Identifier: MIT
#
# Writes presets/*.policy as a table in C, for ../policy/presets.h:
#
#     cmake -DOUTPUT=presets.c -DINPUTS="a.policy;b.policy" -P embed_presets.cmake
#
# Sorted by name, and without a path in it: the same table wherever it is built.
# As numbers, so that any byte survives. INPUTS may be empty.
cmake_minimum_required(VERSION 3.18)

if(NOT OUTPUT)
  message(FATAL_ERROR "kstackrand: error: say where to write: -DOUTPUT=presets.c")
endif()

set(names "")
foreach(input IN LISTS INPUTS)
  get_filename_component(name "${input}" NAME)
  string(REGEX REPLACE "\\.policy$" "" name "${name}")
  # A name is found when it has no '/' and no '.', and must need no quoting in C.
  if(NOT name MATCHES "^[A-Za-z0-9_-]+$")
    message(FATAL_ERROR "kstackrand: error: preset '${input}' must be named WORD.policy, "
                        "with letters, digits, '_' and '-'")
  endif()
  if(name IN_LIST names)
    message(FATAL_ERROR "kstackrand: error: preset '${name}' is there twice")
  endif()
  list(APPEND names "${name}")
  set("path_of_${name}" "${input}")
endforeach()
list(SORT names COMPARE STRING)

set(texts "")
set(rows "")
set(index 0)
foreach(name IN LISTS names)
  file(READ "${path_of_${name}}" bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "(..)" "0x\\1, " bytes "${bytes}00")
  # A dozen a line.
  string(REGEX REPLACE "(0x.., 0x.., 0x.., 0x.., 0x.., 0x.., 0x.., 0x.., 0x.., 0x.., 0x.., 0x..,) "
         "\\1\n\t" bytes "${bytes}")
  string(APPEND texts "static const unsigned char text_${index}[] = {\n\t${bytes}\n};\n\n")
  string(APPEND rows "\t{\"${name}\", (const char *)text_${index}, ${size}},\n")
  math(EXPR index "${index} + 1")
endforeach()

file(WRITE "${OUTPUT}" "/* SPDX-License-Identifier: MIT */
/* Written by embed_presets.cmake; change the files in presets/ instead. */
#include \"presets.h\"

${texts}const struct kstackrand_preset kstackrand_presets[] = {
${rows}\t{NULL, NULL, 0},
};
")
