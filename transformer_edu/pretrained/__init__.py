"""Trained translators, ready to use.

loading  the translator in the package: English to German, with its card and its history
marian_folder   folders of published Marian models
ctranslate2_engine   the weights in another engine, for very many sentences

``model.safetensors``, ``tokenizer.json``, ``history.json`` and the card ``README.md`` were written
by ``python -m experiments.publishing.export``, in a checkout of the repository.
"""
