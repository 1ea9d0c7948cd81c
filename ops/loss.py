"""Losses made of other operators; cross_entropy and nll_loss have kernels of their own (softmax.py)."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

F = "nn.functional."
for name, extra, doc in (
        ("l1_loss", "", "The mean absolute error."), ("mse_loss", "", "The mean squared error."),
        ("smooth_l1_loss", ", float beta=1.0", "Squared below `beta`, absolute above."),
        ("huber_loss", ", float delta=1.0", "Squared below `delta`, `delta` times absolute above."),
        ("soft_margin_loss", "", "`log(1 + exp(-target * input))`."),
        ("multilabel_margin_loss", "", "Multi-class multi-label margin loss.")):
    composite(f"{name}(Tensor input, Tensor target, str reduction='mean'{extra})", names=F + name, out=False, doc=doc)
composite("binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, str reduction='mean')", names=F + "binary_cross_entropy",
          out=False, doc="Cross-entropy of probabilities; logarithms are at least -100.")
composite("binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, str reduction='mean')",
          names=f"binary_cross_entropy_with_logits {F}binary_cross_entropy_with_logits", out=False, doc="Cross-entropy of sigmoid(input).")
pointwise("logit_entropy(Tensor self, Tensor target)", "m_maximum(self, 0) - self * target + log1p(exp(-m_abs(self)))", types="floating",
          names="", method=False, d={"self": "sigmoid(self) - target", "target": "-self"}, cost=4, doc="Cross-entropy of sigmoid(self).")
pointwise("probability_entropy(Tensor self, Tensor target)",
          "(target - 1) * m_maximum(log1p(-self), -100) - target * m_maximum(log(self), -100)", types="floating", names="", method=False,
          grad={"self": "grad * (self - target) / clamp_min((1 - self) * self, 1e-12)",
                "target": "grad * (clamp_min(log1p(-self), -100) - clamp_min(log(self), -100))"}, cost=8,
          doc="Cross-entropy of a probability.")
composite("kl_div(Tensor input, Tensor target, str reduction='mean', bool log_target=False)", names=f"kl_div {F}kl_div", out=False,
          doc="Kullback-Leibler divergence; `input` is a log-probability.")
composite("poisson_nll_loss(Tensor input, Tensor target, bool log_input=True, bool full=False, float eps=1e-8, str reduction='mean')",
          names=F + "poisson_nll_loss", out=False, doc="Negative log-likelihood of Poisson counts.")
composite("hinge_embedding_loss(Tensor input, Tensor target, float margin=1.0, str reduction='mean')",
          names=f"hinge_embedding_loss {F}hinge_embedding_loss", out=False, doc="`input` for target 1, max(0, margin - input) for -1.")
composite("cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, str reduction='mean')",
          names=f"cosine_embedding_loss {F}cosine_embedding_loss", out=False, doc="Loss on the cosine of two vectors.")
composite("margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, str reduction='mean')",
          names=f"margin_ranking_loss {F}margin_ranking_loss", out=False, doc="`max(0, -target * (input1 - input2) + margin)`.")
composite("triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2.0, float eps=1e-6,"
          " bool swap=False, str reduction='mean')", names=f"triplet_margin_loss {F}triplet_margin_loss", out=False,
          doc="`max(0, d(anchor, positive) - d(anchor, negative) + margin)`.")
composite("multi_margin_loss(Tensor input, Tensor target, Scalar p=1, Scalar margin=1.0, Tensor? weight=None, str reduction='mean')",
          names=F + "multi_margin_loss", out=False, doc="Multi-class margin loss.")
composite("cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-8)", names=f"cosine_similarity {F}cosine_similarity", out=False,
          doc="The cosine of the angle between vectors along `dim`.")
composite("pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-6, bool keepdim=False)",
          names=f"pairwise_distance {F}pairwise_distance", out=False, doc="The p-norm of `x1 - x2 + eps` along the last dimension.")
composite("ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, str reduction='mean',"
          " bool zero_infinity=False)", names=F + "ctc_loss", out=False,
          doc="The connectionist temporal classification loss of log probabilities (T, N, C) or (T, C). The targets are (N, S), or all in a row."
              " The gradient is that of logarithms of a softmax.")
composite("linear_cross_entropy(Tensor input, Tensor linear_weight, Tensor target, *, Tensor? linear_bias=None, Tensor? weight=None,"
          " str reduction='mean', int? ignore_index=None, float label_smoothing=0.0)", names=F + "linear_cross_entropy", out=False,
          doc="The cross-entropy of `linear(input, linear_weight, linear_bias)`, whose rows may be (C, d1, ..., dK).")
