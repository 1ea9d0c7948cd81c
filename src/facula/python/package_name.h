// The name under which types and values print themselves: "facula", or the one that a program asks
// for which runs Facula under another name.
#pragma once
#include <string>
#include <string_view>

namespace facula::python {

extern const char* package_name;

// in_package_words gives a message for the program: "facula.Tensor" becomes "torch.Tensor" where it
// knows the package as torch. Names of Facula's own, as facula.as_torch, stay, and so do longer
// names, those of files, and what stands in quotes, other than classes as Python shows them.
std::string in_package_words(std::string_view text);

}  // namespace facula::python
