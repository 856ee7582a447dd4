"""The shipped translator in a page: the whole Transformer in JavaScript, without a kernel.

page         the live page: the reader's own sentence, and every number on its way
engine       makes one script of the files below; a page needs it, the weights and the tokenizer
client       the page's side: what a page can ask, described in its first lines
worker       the worker's side, which answers
translator   text in, text out, and a look at every value on the way
generation   greedy search, beam search, sampling
transformer  the model: the classes of lessons 01 to 09, under their names
watch        keeps values, replaces vectors, switches parts off
tokenizer    texts to token ids and back
weights      reads a file of the format safetensors
tensor       arrays with a shape, and their products
"""
