"""What only the notebooks need.

display, style   show a figure, a figure with controls, a source; how figures look
predict          a question with answers to choose from, above an outcome that stays closed
live_curve       a loss that is drawn while its loop runs
our_transformer  the classes that lessons 01 to 09 ask for, in plain PyTorch
my_transformer   the file with the reader's own classes, and what stands in for missing ones
figures/         pure functions: data in, Figure out
explorers/       figures with controls
inspect/         questions to a model: attention maps, shape walk, probes, ablation, replay
viewer/          live figures and the attention viewer: pages that need no kernel
texts/           sentences and captions in English and German
checks/          one module a lesson: the checks of its exercises
grade/           the command that runs students' notebooks and collects what the checks say
"""
