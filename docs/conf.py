"""How Sphinx makes the website; ``python -m tools.site`` writes the sources that it reads."""

from collections.abc import Callable
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert

from tools.colab import repository_address
from tools.notebooks import ROOT
from transformer_edu import __version__

project = "transformer-edu"
version = release = __version__
author = "transformer-edu authors"
project_copyright = "transformer-edu authors, MIT license"
repository = repository_address((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
templates_path: list[str] = []

# Notebooks: the stored outputs, never a kernel.
nb_execution_mode = "off"
nb_code_prompt_show = "Show the {type}"
nb_code_prompt_hide = "Hide the {type}"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
myst_heading_slug_func = "tools.site.anchor"

# The package: a page for each room.
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
add_module_names = False
python_maximum_signature_line_length = 72
napoleon_use_ivar = True
toc_object_entries_show_parents = "hide"

# The look.
html_theme = "sphinx_book_theme"
html_title = "The Transformer, built by you"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sphinx = False
html_last_updated_fmt = None
pygments_dark_style = "github-dark"
html_theme_options = {
    "show_navbar_depth": 1,
    "show_toc_level": 2,
    "use_fullscreen_button": False,
    "use_download_button": True,
    "repository_url": repository or "",
    "use_repository_button": bool(repository),
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def write_formula(display: str) -> Callable[[object, nodes.Element], None]:
    """A formula as MathML, which browsers draw without a script and screen readers speak."""

    def visit(page: object, node: nodes.Element) -> None:
        formula = convert(node.astext(), display=display)
        page.body.append(f'<div class="math">{formula}</div>' if display == "block" else formula)
        raise nodes.SkipNode

    return visit


def keep_the_map(app: object, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Show the map in a room's docstring as it is written, line by line."""
    if what == "module" and name != "transformer_edu" and Path(thing.__file__).stem == "__init__":
        lines[1:] = ["", "::", "", *(f"   {line}" for line in lines[1:]), ""]


def setup(app: object) -> None:
    """Called by Sphinx before it reads anything."""
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(write_formula("inline"), None),
        block_renderers=(write_formula("block"), None),
    )
    app.connect("autodoc-process-docstring", keep_the_map)
