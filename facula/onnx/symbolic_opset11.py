"""How PyTorch exports operators to ONNX opset 11: libraries import the module by name."""
