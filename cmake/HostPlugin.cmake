# SPDX-License-Identifier: MIT
# A module that a compiler loads, of the object library TARGET-objects.
#
# All symbols become weak, so that a host of another version or target, which
# lacks some that are taken from it, still loads the module: it would otherwise
# end with an unreadable "undefined symbol" before the module's own check could
# say what is wrong and what cures it.
function(add_host_plugin target output_name directory)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${target}.o)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${CMAKE_LINKER} -r -o ${object} $<TARGET_OBJECTS:${target}-objects>
    COMMAND ${CMAKE_OBJCOPY} --weaken ${object}
    DEPENDS ${target}-objects $<TARGET_OBJECTS:${target}-objects>
    COMMAND_EXPAND_LISTS VERBATIM)
  add_library(${target} MODULE ${object})
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME ${output_name} LINKER_LANGUAGE CXX
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/${directory})
  target_link_options(${target} PRIVATE -Wl,-z,relro)
endfunction()

# Whole: a weak reference alone takes nothing out of an archive.
function(link_policy target)
  target_link_libraries(${target} PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,kstackrand-policy>)
endfunction()
