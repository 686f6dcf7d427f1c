"""The HTML of the pages. Every value is escaped; pictures, which escape their own texts, are marked as safe where they are made."""

from __future__ import annotations

from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined

_BASE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{% block title %}icesql{% endblock %}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #222; background: #fff }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #ddd }
td.number, th.number { text-align: right } td.path { overflow-wrap: anywhere; font-family: monospace; font-size: 12px }
input[type=text] { font-family: monospace; width: min(40rem, 70%); padding: .3rem } ul { padding-left: 1.25rem }
.error { color: #a40000 } .quiet { color: #666 }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } a { color: #7ab8ff } .error { color: #ff8080 }
  th, td { border-color: #444 } .quiet { color: #999 } }
</style>
</head>
<body>
{% block body %}{% endblock %}
</body>
</html>
"""

_EVENTS = """{% macro listed(events) %}
<table id="events">
<thead><tr><th class="number">Event</th><th>Time (UTC)</th><th>Table or view</th><th>What was done</th><th>By</th></tr></thead>
<tbody>
{% for event in events %}
<tr><td class="number">{{ event.number }}</td><td>{{ event.time }}</td><td>{{ event.name }}</td>
<td>{{ event.what }}</td><td>{{ event.principal }}</td></tr>
{% else %}
<tr><td colspan="5" class="quiet">No events</td></tr>
{% endfor %}
</tbody>
</table>
{% endmacro %}
"""

_HOME = """{% extends "base" %}{% from "events" import listed %}
{% block body %}
<h1>icesql</h1>
{% for catalog in catalogs %}
<section class="catalog">
<h2>Catalog {{ catalog.name }}</h2>
{% if catalog.error %}<p class="error">{{ catalog.error }}</p>{% endif %}
<ul class="namespaces">
{% for namespace in catalog.namespaces %}
<li>{{ namespace.name }}<ul class="tables">
{% for table in namespace.tables %}<li><a href="{{ table.url }}">{{ table.name }}</a></li>
{% else %}<li class="quiet">No tables</li>
{% endfor %}</ul></li>
{% else %}<li class="quiet">No namespaces</li>
{% endfor %}</ul>
{% if catalog.is_cut %}<p class="quiet">More tables than these exist.</p>{% endif %}
<h3>Latest events</h3>
{{ listed(catalog.events) }}
</section>
{% endfor %}
{% endblock %}
"""

_TABLE = """{% extends "base" %}{% from "events" import listed %}
{% block title %}{{ name }} - icesql{% endblock %}
{% block body %}
<p><a href="{{ home }}">All tables</a></p>
<h1>{{ name }}</h1>
<p class="quiet">{{ location }}, format version {{ format_version }}</p>
<h2>Columns</h2>
<table id="columns"><thead><tr><th class="number">Id</th><th>Name</th><th>Type</th><th>Required</th></tr></thead><tbody>
{% for column in columns %}
<tr><td class="number">{{ column.id }}</td><td>{{ column.name }}</td><td>{{ column.type }}</td>
<td>{{ "yes" if column.required else "no" }}</td></tr>
{% endfor %}
</tbody></table>
<h2>Files for a filter</h2>
<form method="get"><label>WHERE <input type="text" name="where" value="{{ where }}" placeholder="id > 10 AND data = 'a'"></label>
<button>Plan</button></form>
{% if error %}<p class="error">{{ error }}</p>{% endif %}
{% if planned %}
<div id="pruning">{{ planned.picture }}</div>
<p>{{ planned.line }}</p>
<table id="files"><thead><tr><th>File</th><th class="number">Rows</th><th class="number">Bytes</th></tr></thead><tbody>
{% for file in planned.files %}
<tr><td class="path">{{ file.file_path }}</td><td class="number">{{ file.record_count }}</td>
<td class="number">{{ file.file_size_in_bytes }}</td></tr>
{% endfor %}
</tbody></table>
{% if planned.more %}<p class="quiet">and {{ planned.more }} more files</p>{% endif %}
{% endif %}
<h2>Snapshots</h2>
<div id="snapshots">{{ snapshots or "No snapshots" }}</div>
<h2>Latest events</h2>
{{ listed(events) }}
{% endblock %}
"""

_environment = Environment(
    loader=DictLoader({"base": _BASE, "events": _EVENTS, "home": _HOME, "table": _TABLE}),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
)


def rendered(template: str, **values: Any) -> str:
    return _environment.get_template(template).render(**values)
