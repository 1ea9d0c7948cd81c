// The hooks of source locations; empty until the Python layer fills them.
#include "facula/core/location.h"

namespace facula {

SourceLocation (*SourceLocation::capture)() = nullptr;
void (*SourceLocation::release)(void* code) = nullptr;
std::string (*SourceLocation::resolve)(void* code, int offset) = nullptr;

}  // namespace facula
