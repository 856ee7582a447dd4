"""The page in which anybody watches the shipped translator compute a sentence of their own.

live_page       writes the page into a folder: for a website, or for a USB stick
page.html       the markup: one screen with the sentence, then the inside, then what can be changed
page.js         keeps the reader's place, asks the engine, and shows everything after each change
sentence.js     the first screen: both sentences, and the lines of attention between them
boxes.js        the boxes of Figure 1, their small pictures, and what each shows when it is opened
attention.js    an attention, opened: heads, q · k, mask, softmax, values
experiments.js  parts switched off, the beam as a tree, a vector from another sentence
tour.js         ten steps with a question each
place.js        the reader's place as an address, and back
elements.js     elements, numbers, strips and maps of colored cells
"""
