// The name under which types and values print themselves: "facula", or the one that a program asks
// for which runs Facula under another name.
#pragma once

namespace facula::python {

extern const char* package_name;

}  // namespace facula::python
