"""How Sphinx makes the website; tools/site.py writes the sources that it reads."""

import re
from collections.abc import Callable

from docutils import nodes
from latex2mathml.converter import convert

from tools.notebooks import repository_address
from tools.site import as_list
from transformer_edu import __version__

LESSON = re.compile(r"(?:notebooks/)?((\d\d)_\w+)\.ipynb")

project = "transformer-edu"
version = release = __version__
project_copyright = "transformer-edu authors, MIT license"
repository = repository_address()
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

# Notebooks: the stored outputs, never a kernel.
nb_execution_mode = "off"
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide"
myst_enable_extensions = ["dollarmath", "attrs_inline"]
myst_heading_anchors = 3
myst_heading_slug_func = "tools.site.anchor"

# The package: a page for each room.
autodoc_default_options = {
    "members": True,
    "member-order": "bysource",
    "exclude-members": "set",  # matplotlib writes one for every class that draws
}
autodoc_preserve_defaults = True  # as the source has them
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
add_module_names = add_function_parentheses = False
napoleon_use_ivar = True
toc_object_entries_show_parents = "hide"

# The look.
html_theme = "sphinx_book_theme"
html_title = "The Transformer, built by you"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["remember.js"]
html_favicon = "_static/icon.svg"
html_use_index = html_domain_indices = False  # there is the search
html_math_renderer = "mathml"
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is
html_theme_options = {
    "show_toc_level": 2,
    "navbar_persistent": [],
    "use_fullscreen_button": False,
    "footer_content_items": ["copyright.html"],
    "repository_url": repository or "",
    "use_repository_button": bool(repository),
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def formula_writer(display: str) -> Callable[[object, nodes.Element], None]:
    """What writes a formula as MathML, which needs no script and which screen readers speak."""

    def write(page: object, node: nodes.Element) -> None:
        formula = convert(node.astext(), display=display)
        page.body.append(f'<div class="formula">{formula}</div>' if display == "block" else formula)
        raise nodes.SkipNode

    return write


def adapt_docstring(
    app: object, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Show a room's map as a list, and make links of the lessons that a docstring names."""
    if what == "module" and hasattr(thing, "__path__"):
        lines[:] = as_list(lines)
    lines[:] = [LESSON.sub(r":doc:`lesson \2 </notebooks/\1>`", line) for line in lines]


def offer_the_notebook(
    app: object, page: str, template: str, context: dict[str, object], tree: object
) -> None:
    """Only a notebook can be downloaded."""
    if not page.startswith("notebooks/"):
        context["page_source_suffix"] = ""


def setup(app: object) -> None:
    """Sphinx calls this before it reads anything."""
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(formula_writer("inline"), None),
        block_renderers=(formula_writer("block"), None),
    )
    app.connect("autodoc-process-docstring", adapt_docstring)
    app.connect("html-page-context", offer_the_notebook)
