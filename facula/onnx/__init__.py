"""Names of ONNX export. Programs may register symbolics and ask; exporting is not built."""

from __future__ import annotations

from typing import Any

from facula import _absent

__all__ = [
    "ONNXProgram",
    "OperatorExportTypes",
    "TrainingMode",
    "dynamo_export",
    "export",
    "is_in_onnx_export",
    "register_custom_op_symbolic",
    "unregister_custom_op_symbolic",
]

_WHY = "models are not written in the ONNX format"
export = _absent.absent_function("facula.onnx.export", _WHY)
dynamo_export = _absent.absent_function("facula.onnx.dynamo_export", _WHY)
ONNXProgram = _absent.absent_class("facula.onnx.ONNXProgram", _WHY)
OperatorExportTypes = _absent.absent_class("facula.onnx.OperatorExportTypes", _WHY)
TrainingMode = _absent.absent_class("facula.onnx.TrainingMode", _WHY)
ExportOptions = _absent.absent_class("facula.onnx.ExportOptions", _WHY)


class OnnxExporterError(RuntimeError):
    """An export that failed."""


def is_in_onnx_export() -> bool:
    """Say that no model is being exported."""
    return False


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Any, opset_version: int) -> None:
    """Accept how an operator would be exported."""


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Forget how an operator would be exported."""
