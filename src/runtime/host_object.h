// The program's own files, seen from an address in them.
#pragma once

#include <cstddef>
#include <string>

namespace muscope::runtime {

/// The file that holds `address` ("./app", "libfoo.so"), for messages; "the program" when unknown.
std::string object_of(const void* address);

/// What the closed library in this file is called by those who use it: "cuBLAS" for ".../libcublasLt.so.13". Empty for
/// files that are no such library.
std::string closed_library(const std::string& file);

/// The call of a closed library that the calling thread is in, as the program made it.
struct LibraryCall {
  std::string product;   ///< "cuBLAS"; empty: in no such library
  std::string file;      ///< "libcublas.so.13"
  std::string function;  ///< "cublasSgemm_v2"; empty where the library does not export what was called
  /// "cublasSgemm_v2 in libcublas.so.13", or the file alone.
  std::string place() const;
};
/// Walks the thread's stack. Of libraries that call one another, the one that the program called.
LibraryCall library_call();

/// Does the variable lie in the section that our toolkit puts __managed__ variables into (__nv_managed_data__)? clang
/// has no managed attribute, so the section is how they are told.
bool in_managed_section(const void* address, std::size_t bytes);

}  // namespace muscope::runtime
