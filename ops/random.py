"""Random numbers: factories, in-place fills, draws from distributions, dropout."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

# Factories.
manual("rand(int... size, *, Generator? generator=None)", factory=True,
       doc="Numbers spread evenly over [0, 1).")
manual("randn(int... size, *, Generator? generator=None)", factory=True,
       doc="Numbers of the standard normal distribution.")
manual("randint(int high, int[] size, *, Generator? generator=None)", factory=True, names="randint",
       doc="Integers from 0 to `high`, exclusive; of dtype int64 unless another is given.")
manual("randint_low(int low, int high, int[] size, *, Generator? generator=None)", factory=True, names="randint",
       doc="Integers from `low` to `high`, exclusive; of dtype int64 unless another is given.")
manual("randperm(int n, *, Generator? generator=None)", factory=True,
       doc="The integers from 0 to `n`, exclusive, in random order.")
manual("rand_like(Tensor self, *, Generator? generator=None, MemoryFormat? memory_format=None)", factory=True, method=False,
       out=False, doc="Numbers spread evenly over [0, 1), in a tensor like `input`.", nondifferentiable="drawn, not computed")
manual("randn_like(Tensor self, *, Generator? generator=None, MemoryFormat? memory_format=None)", factory=True, method=False,
       out=False, doc="Standard normal numbers in a tensor like `input`.", nondifferentiable="drawn, not computed")
manual("randint_like(Tensor self, int high, *, Generator? generator=None, MemoryFormat? memory_format=None)", factory=True,
       names="randint_like", method=False, out=False, doc="Integers from 0 to `high`, exclusive, in a tensor like `input`.",
       nondifferentiable="drawn, not computed")
manual("randint_like_low(Tensor self, int low, int high, *, Generator? generator=None, MemoryFormat? memory_format=None)",
       factory=True, names="randint_like", method=False, out=False,
       doc="Integers from `low` to `high`, exclusive, in a tensor like `input`.", nondifferentiable="drawn, not computed")
manual("normal(Tensor mean, Tensor std, *, Generator? generator=None)", names="normal",
       grad={"mean": "zeros_like(grad)", "std": "zeros_like(grad)"},
       doc="Normal numbers with a mean and a standard deviation for each element.")
manual("normal_mean(Tensor mean, float std=1.0, *, Generator? generator=None)", names="normal",
       grad={"mean": "zeros_like(grad)"}, doc="Normal numbers with a mean for each element.")
manual("normal_std(float mean, Tensor std, *, Generator? generator=None)", names="normal", grad={"std": "zeros_like(grad)"},
       doc="Normal numbers with a standard deviation for each element.")
manual("normal_size(float mean, float std, int[] size, *, Generator? generator=None)", factory=True, names="normal",
       doc="Normal numbers of one mean and standard deviation.")

# In-place fills. What was there before has no influence, so its gradient is zero.
manual("uniform_(Tensor self, float from=0.0, float to=1.0, *, Generator? generator=None)", names="", method=True,
       grad={"self": "zeros_like(grad)"}, doc="Fills with numbers spread evenly over [from, to).")
manual("normal_(Tensor self, float mean=0.0, float std=1.0, *, Generator? generator=None)", names="", method=True,
       grad={"self": "zeros_like(grad)"}, doc="Fills with normal numbers.")
manual("random_(Tensor self, *, Generator? generator=None)", names="Tensor.random_", method=False,
       grad={"self": "zeros_like(grad)"},
       doc="Fills with integers from 0 to the largest one of the dtype; for floating-point dtypes to the largest up to which all are exact.")
manual("random_below_(Tensor self, int to, *, Generator? generator=None)", names="Tensor.random_", method=False,
       grad={"self": "zeros_like(grad)"}, doc="Fills with integers from 0 to `to`, exclusive.")
manual("random_between_(Tensor self, int from, int? to, *, Generator? generator=None)", names="Tensor.random_", method=False,
       grad={"self": "zeros_like(grad)"},
       doc="Fills with integers from `from` to `to`, exclusive; without `to`, to the largest one of the dtype.")
manual("exponential_(Tensor self, float lambd=1.0, *, Generator? generator=None)", names="", method=True,
       grad={"self": "zeros_like(grad)"}, doc="Fills with exponentially distributed numbers of rate `lambd`.")
manual("geometric_(Tensor self, float p, *, Generator? generator=None)", names="", method=True,
       grad={"self": "zeros_like(grad)"}, doc="Fills with the numbers of trials up to the first success of probability `p`.")
manual("cauchy_(Tensor self, float median=0.0, float sigma=1.0, *, Generator? generator=None)", names="", method=True,
       grad={"self": "zeros_like(grad)"}, doc="Fills with Cauchy distributed numbers.")
manual("log_normal_(Tensor self, float mean=1.0, float std=2.0, *, Generator? generator=None)", names="", method=True,
       grad={"self": "zeros_like(grad)"}, doc="Fills with exponentials of normal numbers.")
manual("bernoulli_(Tensor self, float p=0.5, *, Generator? generator=None)", names="Tensor.bernoulli_", method=False,
       grad={"self": "zeros_like(grad)"}, doc="Fills with ones of probability `p` and zeros.")
manual("bernoulli_tensor_(Tensor self, Tensor p, *, Generator? generator=None)", names="Tensor.bernoulli_", method=False,
       grad={"self": "zeros_like(grad)", "p": "zeros_like(p)"}, doc="Fills with ones, each of its own probability, and zeros.")

# Draws.
manual("bernoulli(Tensor self, *, Generator? generator=None)", names="bernoulli", method=True,
       grad={"self": "zeros_like(grad)"}, doc="Ones, each of the probability that `input` gives, and zeros.")
manual("bernoulli_p(Tensor self, float p, *, Generator? generator=None)", names="bernoulli", method=True, out=False,
       grad={"self": "zeros_like(grad)"}, doc="Ones of probability `p` and zeros, in the shape of `input`.")
manual("multinomial(Tensor self, int num_samples, bool replacement=False, *, Generator? generator=None)", out="exact",
       nondifferentiable="indices", doc="Indices drawn from each row with the probabilities that its weights give.")
manual("poisson(Tensor self, Generator? generator=None)", method=False, out=False, grad={"self": "zeros_like(grad)"},
       doc="Poisson distributed numbers, each of the rate that `input` gives.")
manual("binomial(Tensor count, Tensor prob, Generator? generator=None)", out=False, nondifferentiable="counts",
       doc="Numbers of successes in `count` trials of probability `prob`.")

# Dropout. The stream's key is kept instead of a mask; it makes the same decisions again for gradients.
manual("dropout_with(Tensor self, float p, int key)", names="", method=False, out=False, inplace="direct",
       grad={"self": "dropout_with(grad, p, key)"}, linear=True, doc="Dropout with the decisions of a Philox stream.")
composite("dropout(Tensor self, float p, bool train)", names="dropout nn.functional.dropout", method=False, batch="boxed", out=False,
          doc="Zeros of probability `p`; what is kept is divided by 1 - p. The input itself when not training.")
composite("dropout_(Tensor self, float p, bool train)", names="dropout_ nn.functional.dropout_", method=False, batch="boxed",
          doc="Dropout in place.")
composite("feature_dropout(Tensor self, float p, bool train)", names="feature_dropout nn.functional.feature_dropout",
          method=False, batch="boxed", out=False, doc="Dropout with one decision for each sample and channel.")
composite("feature_dropout_(Tensor self, float p, bool train)", names="feature_dropout_ nn.functional.feature_dropout_",
          method=False, batch="boxed", doc="Feature dropout in place.")
composite("alpha_dropout(Tensor self, float p, bool train)", names="alpha_dropout nn.functional.alpha_dropout", method=False, batch="boxed",
          out=False, doc="Dropout that keeps mean and variance of activations that follow SELU.")
composite("alpha_dropout_(Tensor self, float p, bool train)", names="alpha_dropout_ nn.functional.alpha_dropout_",
          method=False, batch="boxed", doc="Alpha dropout in place.")
composite("feature_alpha_dropout(Tensor self, float p, bool train)",
          names="feature_alpha_dropout nn.functional.feature_alpha_dropout", method=False, batch="boxed", out=False,
          doc="Alpha dropout with one decision for each sample and channel.")
composite("feature_alpha_dropout_(Tensor self, float p, bool train)",
          names="feature_alpha_dropout_ nn.functional.feature_alpha_dropout_", method=False, batch="boxed",
          doc="Feature alpha dropout in place.")
composite("rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator? generator=None)",
          names="rrelu nn.functional.rrelu", method=False, batch="boxed", out=False,
          doc="Leaky ReLU whose slope is drawn evenly from [lower, upper) in training, and their mean otherwise.")
composite("rrelu_(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator? generator=None)",
          names="rrelu_ nn.functional.rrelu_", method=False, batch="boxed", doc="Random leaky ReLU in place.")
