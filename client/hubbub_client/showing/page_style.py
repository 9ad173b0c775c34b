"""This file holds the style of an owner's page: light and dark, with rows as blocks on a narrow screen."""

STYLE = """
:root { color-scheme: light dark;
  --ink: #1b1b1f; --soft: #4a4a54; --line: #c9c9d2; --ground: #ffffff; --tint: #f3f3f8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ececf1; --soft: #b4b4c0; --line: #45454f; --ground: #16161a; --tint: #212128; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 64rem; color: var(--ink); background: var(--ground);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.2; }
h2 { margin-top: 2.5rem; padding-bottom: 0.25rem; border-bottom: 2px solid var(--line); font-size: 1.35rem; }
h3 { margin: 1.75rem 0 0.5rem; font-size: 1.1rem; }
p { margin: 0.4rem 0; max-width: 44rem; }
footer, caption { color: var(--soft); }
dt { margin-top: 1rem; font-weight: 600; }
dd { margin: 0; }
code { padding: 0.1rem 0.3rem; border-radius: 0.25rem; background: var(--tint); overflow-wrap: anywhere;
  font: 0.875rem/1.5 ui-monospace, monospace; }
details code { display: block; margin-top: 0.25rem; max-width: 24rem; }
summary { cursor: pointer; white-space: nowrap; }
table { width: 100%; border-collapse: collapse; }
caption { text-align: left; }
th, td { padding: 0.4rem 0.75rem 0.4rem 0; border-bottom: 1px solid var(--line);
  text-align: left; vertical-align: top; }
td { font-variant-numeric: tabular-nums; }
meter { display: block; width: 100%; max-width: 16rem; height: 0.9rem; }
@media (max-width: 44rem) {
  table, tbody, tr, td { display: block; }
  caption { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { padding: 0.6rem 0; border-bottom: 1px solid var(--line); }
  td { padding: 0.1rem 0; border: 0; }
  td:empty { display: none; }
  td::before { content: attr(data-head) ": "; color: var(--soft); }
}
"""
