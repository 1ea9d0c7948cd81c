"""Sums, means and maxima of bags of embeddings."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

composite("embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False,"
          " Tensor? per_sample_weights=None, bool include_last_offset=False, int? padding_idx=None)"
          " -> (Tensor result, Tensor offset2bag, Tensor bag_size, Tensor max_indices)",
          names="embedding_bag nn.functional.embedding_bag", out=False,
          doc="Looks up bags of rows and sums (mode 0), averages (1) or takes the maximum of (2) each.")
manual("reduce_bags(Tensor weight, Tensor indices, Tensor offsets, Tensor? per_sample_weights, int mode, int padding_idx,"
       " bool scale_grad_by_freq) -> (Tensor result, Tensor max_indices)", names="",
       grad={"weight": "reduce_bags_weight_grad(grad_result, indices, offsets, per_sample_weights, max_indices, size(weight, 0), mode,"
                       " padding_idx, scale_grad_by_freq)",
             "per_sample_weights": "reduce_bags_sample_grad(grad_result, weight, indices, offsets, padding_idx)"})
manual("reduce_bags_weight_grad(Tensor grad_output, Tensor indices, Tensor offsets, Tensor? per_sample_weights, Tensor? max_indices,"
       " int rows, int mode, int padding_idx, bool scale_grad_by_freq)", names="",
       grad={"grad_output": "reduce_bags_again(grad, indices, offsets, per_sample_weights, max_indices, mode, padding_idx,"
                            " scale_grad_by_freq)",
             "per_sample_weights": "reduce_bags_sample_grad(grad_output, grad, indices, offsets, padding_idx)"})
composite("reduce_bags_again(Tensor weight, Tensor indices, Tensor offsets, Tensor? per_sample_weights, Tensor? max_indices, int mode,"
          " int padding_idx, bool scale_grad_by_freq)", names="")
manual("reduce_bags_sample_grad(Tensor grad_output, Tensor weight, Tensor indices, Tensor offsets, int padding_idx)", names="",
       grad={"grad_output": "reduce_bags(weight, indices, offsets, grad, 0, padding_idx, False)[0]",
             "weight": "reduce_bags_weight_grad(grad_output, indices, offsets, grad, None, size(weight, 0), 0, padding_idx, False)"})
