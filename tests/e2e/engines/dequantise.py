"""GGUF file -> folder in Hugging Face format, bfloat16. Executed by vLLM's own interpreter."""

import os
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

source, target = sys.argv[1:]
folder, file = os.path.split(source)
tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file)
plain = GgufConfig(dequantize=True)
model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.bfloat16, quantization_config=plain)
if hasattr(model.config, "quantization_config"):
    del model.config.quantization_config
model.save_pretrained(target + ".part")
tokenizer.save_pretrained(target + ".part")
Path(target + ".part").replace(target)
