"""Measurements for maintainers, from a checkout: they are not installed with the package.

benchmark/      how fast and how large, beside nn.Transformer and Hugging Face
bars            what training must reach, over three seeds
reference_runs  rebuilds the curves that lessons draw (settings: reference_settings)
pattern_bar     the same for the binary pattern (published_copy: the tutorial as published)
circuits        how small models learn to copy, three seeds
features        what sparse autoencoders find in the shipped translator, three seeds
swaps           what each change from 2017 to today is worth, at its best rate
stored_numbers  the options of these three, and what their files may hold
publishing/     writes a run's folder as the package holds it: half precision, with a card
small_marian    trains a small Marian model and writes its folder, where no published one is at hand
"""
