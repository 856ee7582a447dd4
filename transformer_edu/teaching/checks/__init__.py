"""Exercise checks, one module a lesson: right answers pass, a wrong one's mistake is named.

00 start · 01 words · 02 attention · 03 masks · 04 heads · 05 positions · 06 feed_forward ·
07 encoder · 08 decoder · 09 transformer, training_loop · 10 training · 11 diagnosis ·
12 generation · 13 pattern · 14 tokenization · 15 translation · 16 looking_inside ·
17 ablation · 20 published

answer holds the three outcomes: waiting, a hint for that very mistake, correct.
"""
