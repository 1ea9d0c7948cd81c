"""Ways to generate tokens with transformers: sampling, beams, penalties, caches, helpers."""

import torch
import transformers as tf
from common import fill, integers

IDS = integers("ids", 48, 2, 9) + 2
PROMPT = {"input_ids": IDS[:, :4], "attention_mask": torch.ones_like(IDS[:, :4]),
          "pad_token_id": 0}  # fmt: skip
ONE = {"input_ids": IDS[:1, :4], "attention_mask": torch.ones_like(IDS[:1, :4]),
       "pad_token_id": 0}  # fmt: skip
SOURCE = {"input_ids": IDS, "max_new_tokens": 6}


def decoder():
    """A small Llama."""
    config = tf.LlamaConfig(
        vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=48, max_position_embeddings=64, num_key_value_heads=2, bos_token_id=1,
        eos_token_id=1, pad_token_id=0,
    )  # fmt: skip
    return fill(tf.LlamaForCausalLM(config)).eval()


def translator():
    """A small T5."""
    config = tf.T5Config(vocab_size=50, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4,
                         dropout_rate=0.0, decoder_start_token_id=0, eos_token_id=1,
                         pad_token_id=0)  # fmt: skip
    return fill(tf.T5ForConditionalGeneration(config)).eval()


def tokens(model, inputs, ways):
    """The tokens of each way, every one from the same seed."""
    found = {}
    for name, options in ways.items():
        torch.manual_seed(0)
        found[name] = model.generate(**inputs, **options).tolist()
    return found


def sampling():
    draw = {"do_sample": True, "max_new_tokens": 6}
    ways = {
        "sample": draw,
        "topk": {**draw, "top_k": 5, "temperature": 0.7},
        "topp": {**draw, "top_p": 0.8, "top_k": 0},
        "minp": {**draw, "min_p": 0.1},
        "typ": {**draw, "typical_p": 0.5},
        "beams": {**draw, "num_beams": 3},
    }
    return tokens(decoder(), PROMPT, ways)


def searching():
    greedy = {"do_sample": False}
    ways = {
        "rep": {**greedy, "repetition_penalty": 1.5, "no_repeat_ngram_size": 2,
                "max_new_tokens": 8},
        "beam": {"num_beams": 3, "max_new_tokens": 6, "length_penalty": 0.5,
                 "early_stopping": True},
        "bad": {**greedy, "bad_words_ids": [[3], [4, 5]], "min_new_tokens": 3,
                "max_new_tokens": 5},
        "bias": {**greedy, "sequence_bias": [[[7], 5.0]], "max_new_tokens": 4},
        "static": {**greedy, "cache_implementation": "static", "max_new_tokens": 5},
        "off": {**greedy, "use_cache": False, "max_new_tokens": 4},
        "guid": {**greedy, "guidance_scale": 1.5, "max_new_tokens": 4},
    }  # fmt: skip
    return tokens(decoder(), PROMPT, ways)


def assisted():
    ways = {
        "assist": {"assistant_model": decoder(), "do_sample": False, "max_new_tokens": 6},
        "lookup": {"prompt_lookup_num_tokens": 2, "do_sample": False, "max_new_tokens": 6},
    }
    return tokens(decoder(), ONE, ways)


def encoded():
    ways = {
        "enc": {},
        "encbeam": {"num_beams": 2},
        "encsample": {"do_sample": True},
        "encrep": {"encoder_repetition_penalty": 1.3, "encoder_no_repeat_ngram_size": 2},
    }
    return tokens(translator(), SOURCE, ways)


PROGRAMS = {
    "sampling": sampling,
    "searching": searching,
    "assisted": assisted,
    "encoded": encoded,
}
