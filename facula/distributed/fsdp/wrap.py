"""Which modules are sharded: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "always_wrap_policy enable_wrap lambda_auto_wrap_policy size_based_auto_wrap_policy "
    "transformer_auto_wrap_policy wrap",
    "CustomPolicy ModuleWrapPolicy _FSDPPolicy _Policy",
    "process groups are not built",
)
