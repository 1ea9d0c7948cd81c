"""Python's operators, modules, optimisers, schedulers and utilities all have their form in C++.

The names of Python come from the package, those of C++ from the table and the headers. The lists
below hold what cannot have a form in C++; a name in them that exists fails.
"""

import re
import sys
import types
from pathlib import Path

import facula
import facula.fft
import facula.linalg
import facula.special
from facula import nn, optim

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from opgen import __main__ as opgen  # noqa: E402
from opgen.bindings import paths_of  # noqa: E402

HEADERS = ROOT / "src" / "facula" / "nn"

#: Functions of Python that say something about the interpreter, about Python's arguments or about
#: settings of the Python package: no operators.
NO_OPERATORS = set(
    "are_deterministic_algorithms_enabled as_tensor asarray autocast_decrement_nesting "
    "autocast_increment_nesting can_cast clear_autocast_cache compile compiled_with_cxx11_abi cond "
    "fork_rng from_dlpack from_file from_numpy frombuffer get_autocast_cpu_dtype "
    "get_autocast_dtype get_autocast_gpu_dtype get_default_device get_default_dtype "
    "get_deterministic_debug_mode get_device get_device_module get_file_path "
    "get_float32_matmul_precision get_num_interop_threads get_num_threads get_printoptions "
    "get_rng_state init_num_threads initial_seed is_anomaly_check_nan_enabled is_anomaly_enabled "
    "is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled "
    "is_deterministic_algorithms_warn_only_enabled is_distributed is_grad_enabled "
    "is_inference_mode_enabled is_storage is_tensor is_vulkan_available is_warn_always_enabled "
    "load numel prepare_multiprocessing_environment promote_types result_type save seed "
    "set_anomaly_enabled set_autocast_cache_enabled set_autocast_cpu_dtype "
    "set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype "
    "set_default_device set_default_dtype set_default_tensor_type set_deterministic_debug_mode "
    "set_float32_matmul_precision set_flush_denormal set_num_interop_threads set_num_threads "
    "set_printoptions set_rng_state set_warn_always sym_float sym_int sym_ite sym_max sym_min "
    "sym_not sym_sqrt sym_sum tensor thread_safe_generator to_dlpack typename "
    "use_deterministic_algorithms vmap while_loop empty_quantized".split()
)
#: Removed from PyTorch; they only raise and name what to use.
REMOVED = {"eig", "lstsq", "matrix_rank", "solve", "symeig"}
#: Methods about Python objects, storage and devices, and the parts of sparse tensors: members of
#: Tensor and SparseTensor in C++, or nothing there.
NO_METHODS = set(
    "apply_ as_subclass ccol_indices col_indices const_data_ptr cpu crow_indices cuda "
    "data_ptr dense_dim dequantize dim dim_order is_coalesced row_indices sparse_dim "
    "element_size get_device ipu is_contiguous is_distributed is_pinned is_set_to is_shared "
    "map2_ map_ module_load mtia ndimension nelement new new_tensor numel numpy pin_memory "
    "record_stream refine_names register_hook register_post_accumulate_grad_hook reinforce rename "
    "requires_grad_ resize resize_as set_ share_memory_ size storage storage_offset "
    "storage_type stride tolist type untyped_storage xpu".split()
)
#: Another name, or a class of options whose call is the function.
ELSEWHERE = {
    "adaptive_max_pool1d_with_indices": "adaptive_max_pool1d",
    "adaptive_max_pool2d_with_indices": "adaptive_max_pool2d",
    "adaptive_max_pool3d_with_indices": "adaptive_max_pool3d",
    "fractional_max_pool2d_with_indices": "fractional_max_pool2d",
    "fractional_max_pool3d_with_indices": "fractional_max_pool3d",
    "cartesian_prod": "cartesian_prod_list",
    "chain_matmul": "chain_matmul_list",
    "dropout1d": "Dropout1d",
    "dropout2d": "Dropout2d",
    "dropout3d": "Dropout3d",
    "gaussian_nll_loss": "GaussianNLLLossOptions",
    "local_response_norm": "LocalResponseNormOptions",
    "dsmm": "mm",
    "hspmm": "mm",
    "smm": "mm",
    "spmm": "mm",
    "saddmm": "addmm",
    "sspaddmm": "addmm",
    "sparse_bsc_tensor": "sparse_compressed_tensor",
    "sparse_bsr_tensor": "sparse_compressed_tensor",
    "sparse_csc_tensor": "sparse_compressed_tensor",
    "to_sparse_bsc": "to_layout",
    "to_sparse_bsr": "to_layout",
    "to_sparse_coo": "to_layout",
    "to_sparse_csc": "to_layout",
    "to_sparse_csr": "to_layout",
    "lu": "lu_with_info",
    "meshgrid": "meshgrid_list",
    "tensordot": "tensordot_dims",
    "unique": "unique_all",
    "unique_consecutive": "unique_runs",
    "lp_pool1d": "LPPool1d",
    "lp_pool2d": "LPPool2d",
    "lp_pool3d": "LPPool3d",
    "max_unpool1d": "MaxUnpool1d",
    "multi_head_attention_forward": "MultiheadAttention",
    "multilabel_soft_margin_loss": "MultiLabelSoftMarginLossOptions",
    "triplet_margin_with_distance_loss": "TripletMarginWithDistanceLossOptions",
    "upsample": "Upsample",
    "upsample_bilinear": "UpsamplingBilinear2d",
    "upsample_nearest": "UpsamplingNearest2d",
}
#: Lazy modules and containers stand for what C++ has as constructors and as members; NLLLoss2d and
#: Container are old names; SyncBatchNorm works across processes.
NO_MODULES = set(
    "Container ModuleDict NLLLoss2d ParameterDict ParameterList SyncBatchNorm".split()
)
#: They replace an attribute of a module by a computation; members of C++ classes are tensors.
NO_UTILITIES = {"remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"}


def declared() -> set[str]:
    """Returns the classes and functions that the headers of the front end declare."""
    text = "\n".join(h.read_text() for h in sorted(HEADERS.rglob("*.h")))
    text += (ROOT / "src/facula/autograd/meta.h").read_text()
    text += (ROOT / "src/facula/sparse/sparse.h").read_text()
    classes = re.findall(r"(?:class|struct) (?:FACULA_API )?(\w+)", text)
    aliases = re.findall(r"^using (\w+) = ", text, re.MULTILINE)
    functions = re.findall(r"^(?:FACULA_API|inline) [\w:<>,& ]+? (\w+)\(", text, re.MULTILINE)
    return {*classes, *aliases, *functions}


CPP = declared()


def rows() -> tuple[set[str], set[str]]:
    """Returns the paths by which Python reaches rows and the rows' names: the functions of C++."""
    table = [row for family in opgen.load_table().values() for row in family]
    return {path for row in table for path, _ in paths_of(row)}, {row.name for row in table}


def functions_of(module: object) -> list[str]:
    """Returns the public functions of a module or type."""
    skip = facula._SUBMODULES if module is facula else set()
    return [
        name for name in dir(module)
        if not name.startswith("_") and name not in skip
        and callable(value := getattr(module, name, None))
        and not isinstance(value, (type, types.ModuleType))
        and not (value.__doc__ or "").startswith("Not built")
    ]  # fmt: skip


def compare(names: set[str], have: set[str], excused: set[str]) -> None:
    """Asserts that the names without a form in C++ are those that are excused."""
    assert names - have - excused == set(), "not in C++"
    assert names & excused & have == set(), "in C++ by now: take them off the list"


def test_operators():
    reached, have = rows()
    spaces = {"": facula, "nn.functional.": nn.functional, "linalg.": facula.linalg,
              "fft.": facula.fft, "special.": facula.special, "Tensor.": facula.Tensor}  # fmt: skip
    lacking = set()
    for space, module in spaces.items():
        names = functions_of(module)
        assert len(names) > 20
        lacking |= {n for n in names if space + n not in reached}
    have |= CPP
    have |= {old for old, new in ELSEWHERE.items() if new in have}
    methods = set(functions_of(facula.Tensor))
    excused = NO_OPERATORS | REMOVED | (NO_METHODS & methods)
    compare(lacking, have, excused)


def test_modules():
    names = {
        n for n in dir(nn)
        if isinstance(getattr(nn, n), type) and issubclass(getattr(nn, n), nn.Module)
    }  # fmt: skip
    lazy = {n for n in names if n.startswith("Lazy")}
    compare(names, CPP, NO_MODULES | lazy)


def test_optimizers_and_schedulers():
    optimizers = {n for n in dir(optim) if isinstance(getattr(optim, n), type)}
    compare(optimizers, CPP, set())
    schedulers = set(optim.lr_scheduler.__all__)
    compare(schedulers, CPP, set())
    assert len(optimizers) >= 14 and len(schedulers) >= 15


def test_initialisers_and_utilities():
    initialisers = {n for n in functions_of(nn.init) if n.endswith("_") or n == "calculate_gain"}
    compare(initialisers, CPP, set())
    utilities = {n for n in functions_of(nn.utils) if n not in ("clip_grad_norm",)}
    compare(utilities, CPP, NO_UTILITIES)
