"""Naming further kinds of device: not built."""

from facula._absent import absent_function

rename_privateuse1_backend = absent_function(
    "facula.utils.backend_registration.rename_privateuse1_backend"
)
generate_methods_for_privateuse1_backend = absent_function(
    "facula.utils.backend_registration.generate_methods_for_privateuse1_backend"
)
