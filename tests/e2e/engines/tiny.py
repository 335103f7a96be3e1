"""Tokenizer folder -> folder of a two-layer model with weights made here. Executed by vLLM's own interpreter.

    tiny.py text TOKENIZER TARGET     says a thought of `THOUGHT`, then `ANSWER` over and over, whatever it is asked
    tiny.py vision TOKENIZER TARGET   says what chance wills; reads pictures as Idefics3 and SmolVLM do, in tiles

Both compute as much as any model of their size; what the first says is fixed by what its weights are: its layers add nothing
to a token's embedding, so that the next word depends on the last one alone.
"""

import sys
from pathlib import Path

import torch
from transformers import (
    AutoTokenizer,
    Idefics3Config,
    Idefics3ForConditionalGeneration,
    Idefics3Processor,
    LlamaConfig,
    LlamaForCausalLM,
)
from transformers.models.idefics3.configuration_idefics3 import Idefics3VisionConfig
from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil

THOUGHT = " the sea was far away and all ships lay still there"
ANSWER = " one two three four five six seven eight"
SIDE, PATCH, SHUFFLE = 112, 14, 2  # pixels of a tile and of a patch; patches along a side that become one token

kind, source, target = sys.argv[1:]
part = target + ".part"
torch.manual_seed(0)
tokenizer = AutoTokenizer.from_pretrained(source)


def add(tokens: list[str]) -> None:
    tokenizer.add_special_tokens({"additional_special_tokens": tokens})


def llama() -> LlamaConfig:
    return LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=64,
        max_position_embeddings=40_960,
        tie_word_embeddings=False,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.eos_token_id,
    )


def text() -> None:
    add(["<think>", "</think>"])
    model = LlamaForCausalLM(llama())
    begin, end = tokenizer.convert_tokens_to_ids(["<think>", "</think>"])
    thought, answer = (tokenizer.encode(words, add_special_tokens=False) for words in (THOUGHT, ANSWER))
    newline = tokenizer.encode("\n", add_special_tokens=False)[-1]  # the last token of a prompt that opens no thought
    follows = dict(zip([begin, *thought, end, *answer], [*thought, end, *answer, answer[0]], strict=True)) | {
        newline: answer[0]
    }
    assert len(follows) == len(thought) + len(answer) + 3, "a token of the script stands in it twice"
    with torch.no_grad():
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        for axis, (token, following) in enumerate(follows.items()):
            model.model.embed_tokens.weight[token] = torch.nn.functional.one_hot(torch.tensor(axis), 128)
            model.lm_head.weight[following, axis] += 5
    model.to(torch.bfloat16).save_pretrained(part)


def vision() -> None:
    add(
        [
            "<image>",
            "<fake_token_around_image>",
            "<global-img>",
            *(f"<row_{r}_col_{c}>" for r in range(1, 5) for c in range(1, 5)),
        ]
    )
    sight = Idefics3VisionConfig(
        hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=2, image_size=SIDE, patch_size=PATCH
    )
    image = tokenizer.convert_tokens_to_ids("<image>")
    config = Idefics3Config(text_config=llama(), vision_config=sight, image_token_id=image, scale_factor=SHUFFLE)
    config.tie_word_embeddings = False
    Idefics3ForConditionalGeneration(config).to(torch.bfloat16).save_pretrained(part)
    tiles = Idefics3ImageProcessorPil(size={"longest_edge": 4 * SIDE}, max_image_size={"longest_edge": SIDE})
    per_tile = (SIDE // PATCH // SHUFFLE) ** 2
    Idefics3Processor(tiles, tokenizer, image_seq_len=per_tile, chat_template=tokenizer.chat_template).save_pretrained(part)


{"text": text, "vision": vision}[kind]()
tokenizer.save_pretrained(part)
Path(part).replace(target)
