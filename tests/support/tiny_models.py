"""Models with a few random weights, in folders as transformers writes them."""

from __future__ import annotations

from pathlib import Path

TEXT = (
    "a the man woman dog cat boy girl two is are running runs sits sitting plays playing riding "
    "rides eats guitar ball horse on in at street beach car and with ."
)
WORDS = TEXT.split()


def bert_like(folder: Path, kind: str, layers: int = 3) -> Path:
    """Write an encoder of BERT's, RoBERTa's or DistilBERT's kind."""
    import torch
    import transformers

    torch.manual_seed(1)
    sizes = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32}
    if kind == "roberta":
        _byte_tokenizer(folder, first="<s>", last="</s>", padding="<pad>")
        config = transformers.RobertaConfig(
            vocab_size=len(_bytes()) + 5 + len(WORDS) * 4,
            num_hidden_layers=layers,
            max_position_embeddings=66,
            pad_token_id=1,
            type_vocab_size=1,
            layer_norm_eps=1e-5,
            **sizes,
        )
        transformers.RobertaModel(config).save_pretrained(folder)
    else:
        from tokenizers import BertWordPieceTokenizer

        marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        (folder / "vocab.txt").write_text("\n".join([*marks, *WORDS]) + "\n")
        own = BertWordPieceTokenizer(str(folder / "vocab.txt"))._tokenizer
        transformers.BertTokenizerFast(tokenizer_object=own, model_max_length=64).save_pretrained(
            folder
        )
        size = len(marks) + len(WORDS)
        if kind == "bert":
            config = transformers.BertConfig(
                vocab_size=size, num_hidden_layers=layers, max_position_embeddings=64, **sizes
            )
            transformers.BertModel(config).save_pretrained(folder)
        else:
            config = transformers.DistilBertConfig(
                vocab_size=size,
                dim=16,
                hidden_dim=32,
                n_heads=2,
                n_layers=layers,
                max_position_embeddings=64,
            )
            transformers.DistilBertModel(config).save_pretrained(folder)
    return folder


def _bytes() -> list[str]:
    from tokenizers.pre_tokenizers import ByteLevel

    return sorted(ByteLevel.alphabet())


def _byte_tokenizer(folder: Path, *, first: str, last: str, padding: str) -> None:
    """Write a tokenizer of bytes, as RoBERTa's, that has learned nothing."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

    marks = [first, padding, last, "<unk>", "<mask>"]
    vocabulary = {token: k for k, token in enumerate([*marks, *_bytes()])}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    ends = [(last, vocabulary[last]), (first, vocabulary[first])]
    tokenizer.post_processor = processors.RobertaProcessing(*ends, add_prefix_space=False)
    tokenizer.add_special_tokens(marks)
    tokenizer.save(str(folder / "tokenizer.json"))


def clip(folder: Path) -> Path:
    """Write a CLIP that looks at pictures of 32 × 32 pixels and knows a few words."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    words = {word: k for k, word in enumerate(["!", "<unk>", *WORDS, "photo", "depicts"])}
    first, last = "<|startoftext|>", "<|endoftext|>"
    words |= {first: len(words), last: len(words) + 1}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", special_tokens=[(each, words[each]) for each in (first, last)]
    )
    whole = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=last,
        bos_token=first,
        eos_token=last,
        unk_token="<unk>",
        model_max_length=24,
    )
    whole.save_pretrained(folder)
    torch.manual_seed(5)  # one whose cosines are positive
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
    config = transformers.CLIPConfig(
        text_config={
            **sizes,
            "num_attention_heads": 2,
            "vocab_size": len(words),
            "max_position_embeddings": 24,
            "bos_token_id": words[first],
            "eos_token_id": words[last],
            "pad_token_id": words[last],
        },
        vision_config={**sizes, "num_attention_heads": 2, "image_size": 32, "patch_size": 8},
        projection_dim=12,
    )
    model = transformers.CLIPModel(config)
    with torch.no_grad():  # random vectors of a fresh model nearly coincide
        for parameter in model.parameters():
            parameter.normal_(std=0.3)
    model.save_pretrained(folder)
    return folder


def llava(folder: Path) -> Path:
    """Write a LLaVA that looks at pictures of 16 × 16 pixels and answers in a few words."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    marks = ["<pad>", "<s>", "</s>", "<unk>", "<image>"]
    words = {word: k for k, word in enumerate([*marks, *WORDS, "USER:", "ASSISTANT:"])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    whole = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        additional_special_tokens=["<image>"],
    )
    template = (
        "{% for message in messages %}{{ message.role | upper }}: "
        "{% for part in message.content %}"
        "{% if part.type == 'image' %}<image> {% else %}{{ part.text }} {% endif %}"
        "{% endfor %}{% endfor %}{% if add_generation_prompt %}ASSISTANT:{% endif %}"
    )
    vision = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": 16,
        "patch_size": 8,
        "projection_dim": 16,
    }
    text = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "vocab_size": len(words),
        "max_position_embeddings": 512,
    }
    torch.manual_seed(3)
    config = transformers.LlavaConfig(
        vision_config=transformers.CLIPVisionConfig(**vision),
        text_config=transformers.LlamaConfig(
            **text, bos_token_id=1, eos_token_id=2, pad_token_id=0
        ),
        image_token_index=words["<image>"],
        vision_feature_layer=-1,
    )
    model = transformers.LlavaForConditionalGeneration(config)
    with torch.no_grad():  # what a fresh model says hardly depends on the pictures
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.4)
    model.generation_config.eos_token_id, model.generation_config.pad_token_id = 2, 0
    model.save_pretrained(folder)
    pictures = transformers.CLIPImageProcessorPil(
        size={"shortest_edge": 16}, crop_size={"height": 16, "width": 16}
    )
    transformers.LlavaProcessor(
        pictures,
        whole,
        patch_size=8,
        vision_feature_select_strategy="default",
        chat_template=template,
        num_additional_image_tokens=1,
    ).save_pretrained(folder)
    return folder
