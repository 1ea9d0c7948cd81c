"""Models of transformers in tiny configurations: losses, training steps and generated tokens."""

import torch
import transformers as tf
from common import array, digest, fill, integers, step

SMALL = {
    "vocab_size": 50,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
}


def prepare(model):
    """Weights by name, without dropout."""
    for m in model.modules():
        if isinstance(m, torch.nn.Dropout):
            m.p = 0.0
    return fill(model)


def check(model, inputs, optimizer=torch.optim.AdamW, generate=None, **options):
    """Logits, three steps on the model's own loss, and tokens by greedy search."""
    model = prepare(model).eval()
    with torch.no_grad():
        out = model(**inputs)
    first = next(v for k, v in out.items() if "logits" in k)
    result = {"loss": out.loss.item(), "logits": digest(first)}
    model.train()
    optimizer = optimizer(model.parameters(), lr=1e-3)
    result["losses"] = step(model, optimizer, lambda: model(**inputs).loss)
    if generate is not None:
        model.eval()
        with torch.no_grad():
            tokens = model.generate(**generate, do_sample=False, pad_token_id=0, **options)
        result["tokens"] = tokens.tolist()
    return result


IDS = integers("ids", 48, 2, 9) + 2
MASK = torch.ones_like(IDS)
MASK[1, -3:] = 0
PROMPT = {"input_ids": IDS[:, :4], "attention_mask": torch.ones_like(IDS[:, :4])}
CLASSIFY = {"input_ids": IDS, "attention_mask": MASK, "labels": torch.tensor([0, 2])}
LANGUAGE = {"input_ids": IDS, "labels": IDS}


def bert():
    return check(tf.BertForSequenceClassification(tf.BertConfig(**SMALL, num_labels=3)), CLASSIFY)


def bert_masked():
    return check(tf.BertForMaskedLM(tf.BertConfig(**SMALL)), LANGUAGE)


def roberta():
    config = tf.RobertaConfig(**SMALL, num_labels=3, pad_token_id=1)
    return check(tf.RobertaForTokenClassification(config), {**CLASSIFY, "labels": IDS % 3})


def distilbert():
    config = tf.DistilBertConfig(
        vocab_size=50, dim=32, n_layers=2, n_heads=4, hidden_dim=48, num_labels=3,
        max_position_embeddings=64,
    )  # fmt: skip
    return check(tf.DistilBertForSequenceClassification(config), CLASSIFY)


def gpt2():
    config = tf.GPT2Config(vocab_size=50, n_positions=64, n_embd=32, n_layer=2, n_head=4,
                           bos_token_id=1, eos_token_id=1)  # fmt: skip
    return check(tf.GPT2LMHeadModel(config), LANGUAGE, generate=PROMPT, max_new_tokens=6)


def llama():
    config = tf.LlamaConfig(**SMALL, num_key_value_heads=2, bos_token_id=1, eos_token_id=1)
    return check(tf.LlamaForCausalLM(config), LANGUAGE, generate=PROMPT, max_new_tokens=6)


def llama_beams():
    config = tf.LlamaConfig(**SMALL, num_key_value_heads=2, bos_token_id=1, eos_token_id=1)
    return check(tf.LlamaForCausalLM(config), LANGUAGE, torch.optim.SGD, PROMPT, num_beams=3,
                 max_new_tokens=5)  # fmt: skip


def mistral():
    config = tf.MistralConfig(**SMALL, num_key_value_heads=2, sliding_window=4, eos_token_id=1)
    return check(tf.MistralForCausalLM(config), LANGUAGE, generate=PROMPT, max_new_tokens=6)


def qwen2():
    config = tf.Qwen2Config(**SMALL, num_key_value_heads=2, eos_token_id=1)
    return check(tf.Qwen2ForCausalLM(config), LANGUAGE, generate=PROMPT, max_new_tokens=6)


def t5():
    config = tf.T5Config(vocab_size=50, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4,
                         dropout_rate=0.0, decoder_start_token_id=0, eos_token_id=1)  # fmt: skip
    return check(tf.T5ForConditionalGeneration(config), {**LANGUAGE, "labels": IDS[:, :5].clone()},
                 generate={"input_ids": IDS}, max_new_tokens=6)  # fmt: skip


def bart():
    config = tf.BartConfig(vocab_size=50, d_model=32, encoder_layers=1, decoder_layers=1,
                           encoder_attention_heads=4, decoder_attention_heads=4,
                           encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=64,
                           dropout=0.0, forced_eos_token_id=None)  # fmt: skip
    inputs = {**LANGUAGE, "labels": IDS[:, :5].clone()}
    return check(tf.BartForConditionalGeneration(config), inputs,
                 generate={"input_ids": IDS}, max_new_tokens=5)  # fmt: skip


def whisper():
    config = tf.WhisperConfig(
        vocab_size=50, d_model=32, encoder_layers=1, decoder_layers=1, num_mel_bins=10,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48,
        decoder_ffn_dim=48, max_source_positions=20, max_target_positions=30, pad_token_id=0,
        bos_token_id=1, eos_token_id=1, decoder_start_token_id=2, begin_suppress_tokens=None,
        suppress_tokens=None,
    )  # fmt: skip
    features = array("mel", 2, 10, 40)
    return check(tf.WhisperForConditionalGeneration(config),
                 {"input_features": features, "labels": IDS[:, :5].clone()},
                 generate={"input_features": features}, max_new_tokens=5)  # fmt: skip


def vit():
    config = tf.ViTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                          intermediate_size=48, image_size=16, patch_size=4,
                          num_labels=3)  # fmt: skip
    inputs = {"pixel_values": array("pixels", 2, 3, 16, 16), "labels": torch.tensor([0, 2])}
    return check(tf.ViTForImageClassification(config), inputs)


def clip():
    text = {**SMALL, "eos_token_id": 1, "bos_token_id": 0, "pad_token_id": 2}
    vision = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
              "intermediate_size": 48, "image_size": 16, "patch_size": 4}  # fmt: skip
    model = tf.CLIPModel(tf.CLIPConfig(text_config=text, vision_config=vision, projection_dim=16))
    inputs = {"input_ids": IDS, "pixel_values": array("pixels", 2, 3, 16, 16),
              "attention_mask": MASK, "return_loss": True}  # fmt: skip
    return check(model, inputs)


def saved():
    """A model is written as safetensors and read again."""
    import tempfile

    model = prepare(tf.BertModel(tf.BertConfig(**SMALL))).eval()
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        model.save_pretrained(folder)
        again = tf.AutoModel.from_pretrained(folder).eval()
        out = again(IDS).last_hidden_state
        return {"same": torch.equal(out, model(IDS).last_hidden_state), "out": digest(out)}


PROGRAMS = {
    "bert": bert,
    "bert_masked": bert_masked,
    "roberta": roberta,
    "distilbert": distilbert,
    "gpt2": gpt2,
    "llama": llama,
    "llama_beams": llama_beams,
    "mistral": mistral,
    "qwen2": qwen2,
    "t5": t5,
    "bart": bart,
    "whisper": whisper,
    "vit": vit,
    "clip": clip,
    "saved": saved,
}
