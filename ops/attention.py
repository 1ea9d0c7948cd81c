"""Scaled dot-product attention."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

composite("scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0,"
          " bool is_causal=False, *, float? scale=None, bool enable_gqa=False)",
          names="nn.functional.scaled_dot_product_attention", out=False,
          doc="`softmax(query @ key.T * scale + mask) @ value`; rows that may attend to nothing give 0.")
manual("attend(Tensor query, Tensor key, Tensor value, Tensor? attn_mask, bool is_causal, float scale)"
       " -> (Tensor result, Tensor weights)", names="",
       grad={("query", "key", "value", "attn_mask"):
             "attend_backward(grad_result, query, key, value, attn_mask, weights, is_causal, scale, mask)"})
composite("attend_backward(Tensor grad_output, Tensor query, Tensor key, Tensor value, Tensor? attn_mask, Tensor weights,"
          " bool is_causal, float scale, bool[] output_mask) -> (Tensor dq, Tensor dk, Tensor dv, Tensor dmask)", names="")
manual("attend_backward_fused(Tensor grad_output, Tensor query, Tensor key, Tensor value, Tensor? attn_mask, Tensor weights,"
       " float scale, bool[] output_mask) -> (Tensor dq, Tensor dk, Tensor dv, Tensor dmask)", names="",
       nondifferentiable="attend_backward uses it when nothing is recorded")
manual("attend_tiled(Tensor query, Tensor key, Tensor value, Tensor? attn_mask, Tensor? query_spans, Tensor? key_spans,"
       " bool is_causal, float scale) -> (Tensor result, Tensor logsumexp)", names="",
       grad={("query", "key", "value"):
             "attend_tiled_backward(grad_result, query, key, value, attn_mask, query_spans, key_spans, result, logsumexp,"
             " is_causal, scale, mask)"})
composite("attend_tiled_backward(Tensor grad_output, Tensor query, Tensor key, Tensor value, Tensor? attn_mask,"
          " Tensor? query_spans, Tensor? key_spans, Tensor result, Tensor logsumexp, bool is_causal, float scale,"
          " bool[] output_mask) -> (Tensor dq, Tensor dk, Tensor dv)", names="")
manual("attend_tiled_backward_fused(Tensor grad_output, Tensor query, Tensor key, Tensor value, Tensor? attn_mask,"
       " Tensor? query_spans, Tensor? key_spans, Tensor result, Tensor logsumexp, bool is_causal, float scale)"
       " -> (Tensor dq, Tensor dk, Tensor dv)", names="",
       nondifferentiable="attend_tiled_backward uses it when nothing is recorded")
composite("attend_ragged(Tensor query, Tensor key, Tensor value, Tensor query_spans, Tensor key_spans, bool is_causal=False,"
          " *, float? scale=None)", names="_attend_ragged", out=False,
          doc="Attention of ragged rows `(rows, heads, size)`; spans `(batch, 2)` hold first rows and lengths.")
