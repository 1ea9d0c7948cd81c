// Errors name the function that the user called, not the rows that it is made of.
#pragma once

namespace facula::python {

// name_the_call looks at the exception that is set: where an operator below the called one raised
// it and its message begins with that operator's name, the name of the called one takes its place.
void name_the_call(const char* called);

}  // namespace facula::python
