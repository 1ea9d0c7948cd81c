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


def experts():
    """A mixture of experts: each token goes through two of four."""
    config = tf.MixtralConfig(**SMALL, num_key_value_heads=2, num_local_experts=4, eos_token_id=1)
    return check(tf.MixtralForCausalLM(config), LANGUAGE, generate=PROMPT, max_new_tokens=6)


def deberta():
    config = tf.DebertaV2Config(
        **SMALL, relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=8
    )
    return check(tf.DebertaV2ForMaskedLM(config), LANGUAGE)


def xlnet():
    config = tf.XLNetConfig(vocab_size=50, d_model=32, n_layer=2, n_head=4, d_inner=48,
                            num_labels=3)  # fmt: skip
    return check(tf.XLNetForSequenceClassification(config), CLASSIFY)


def longformer():
    config = tf.LongformerConfig(**SMALL, attention_window=4, pad_token_id=1, num_labels=3,
                                 attention_probs_dropout_prob=0.0)  # fmt: skip
    return check(tf.LongformerForTokenClassification(config), {**CLASSIFY, "labels": IDS % 3})


def mamba():
    config = tf.MambaConfig(vocab_size=50, hidden_size=32, state_size=8, num_hidden_layers=2,
                            time_step_rank=4, eos_token_id=1)  # fmt: skip
    return check(tf.MambaForCausalLM(config), LANGUAGE, generate=PROMPT, max_new_tokens=5)


def wav2vec2():
    config = tf.Wav2Vec2Config(
        **{k: v for k, v in SMALL.items() if k != "max_position_embeddings"}, conv_dim=(16, 16),
        conv_stride=(5, 4), conv_kernel=(10, 8), num_feat_extract_layers=2, mask_time_prob=0.0,
        num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2, layerdrop=0.0, pad_token_id=0,
        attention_dropout=0.0, hidden_dropout=0.0, activation_dropout=0.0,
    )  # fmt: skip
    inputs = {"input_values": array("wave", 2, 640), "labels": IDS[:, :5].clone()}
    return check(tf.Wav2Vec2ForCTC(config), inputs)


def segformer():
    config = tf.SegformerConfig(hidden_sizes=[8, 16, 16, 16], depths=[1, 1, 1, 1],
                                decoder_hidden_size=16, num_attention_heads=[1, 2, 2, 2],
                                num_labels=3)  # fmt: skip
    inputs = {"pixel_values": array("pixels", 1, 3, 32, 32),
              "labels": integers("mask", 3, 1, 32, 32)}  # fmt: skip
    return check(tf.SegformerForSemanticSegmentation(config), inputs)


def trainer():
    """The Trainer with its schedule, its evaluation and a checkpoint."""
    import tempfile

    class Rows(torch.utils.data.Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, i):
            return {"input_ids": IDS[i % 2], "labels": torch.tensor(i % 3)}

    model = prepare(tf.BertForSequenceClassification(tf.BertConfig(**SMALL, num_labels=3)))
    with tempfile.TemporaryDirectory() as folder:
        options = tf.TrainingArguments(
            folder, num_train_epochs=2, per_device_train_batch_size=4, learning_rate=1e-3,
            report_to=[], use_cpu=True, logging_steps=1, disable_tqdm=True, seed=0,
            max_grad_norm=1.0, save_strategy="epoch",
        )  # fmt: skip
        run = tf.Trainer(model, options, train_dataset=Rows(), eval_dataset=Rows())
        run.train()
        found = run.evaluate()
        losses = [entry["loss"] for entry in run.state.log_history if "loss" in entry]
        return {"loss": found["eval_loss"], "losses": losses}


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
    "experts": experts,
    "deberta": deberta,
    "xlnet": xlnet,
    "longformer": longformer,
    "mamba": mamba,
    "wav2vec2": wav2vec2,
    "segformer": segformer,
    "trainer": trainer,
    "saved": saved,
}
