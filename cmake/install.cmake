# Install rules. Component `python` fills the package of a wheel (prefix = the folder that holds
# facula/); component `cpp` fills a prefix for C++: include/, lib/, share/cmake/Facula. Both give a
# FaculaConfig.cmake, so find_package(Facula) works from either.
