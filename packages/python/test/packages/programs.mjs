// The main job of each package as a short program. Each program prints the same text in every
// version of Python. `versions.mjs` pins the packages, and `run.mjs` runs the programs.

/** Programs by the names of their packages. */
export const PROGRAMS = {
  anyio: `import anyio
async def main():
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.sleep, 0)
    return 'done'
print(anyio.run(main))`,
  arrow: `import arrow
print(arrow.get('2024-02-28T12:00:00+00:00').shift(days=2).humanize(arrow.get('2024-03-02T12:00:00+00:00')))`,
  asgiref: `import asyncio
from asgiref.sync import async_to_sync
async def add(a, b): return a + b
print(async_to_sync(add)(1, 2))`,
  attrs: `import attr
@attr.s(auto_attribs=True)
class Point:
    x: int
    y: int = 2
print(Point(1), attr.asdict(Point(3)))`,
  babel: `from babel.numbers import format_currency
from babel.dates import format_date
import datetime
print(format_currency(1234.5, 'EUR', locale='de_DE').replace('\\xa0', ' '), format_date(datetime.date(2024, 3, 1), locale='fr'))`,
  beautifulsoup4: `from bs4 import BeautifulSoup
page = BeautifulSoup('<p class=a>one<b>two</b><p>three', 'html.parser')
print([p.get_text() for p in page.select('p.a')], page.b.string)`,
  blinker: `from blinker import signal
ready = signal('ready')
@ready.connect
def note(sender, **kw): print(sender, kw)
ready.send('app', n=1)`,
  botocore: `import botocore.session
session = botocore.session.get_session()
session.set_credentials('a', 'b')
client = session.create_client('s3', region_name='eu-west-1')
print(client.generate_presigned_url('get_object', {'Bucket': 'b', 'Key': 'k'}).split('?')[0])`,
  cachetools: `from cachetools import LRUCache, cached
@cached(LRUCache(2))
def square(n): print('call', n); return n * n
print(square(2), square(2), square(3))`,
  certifi: `import certifi, os
print(os.path.basename(certifi.where()), 'BEGIN CERTIFICATE' in open(certifi.where()).read())`,
  chardet: `import chardet
print(chardet.detect('Привет, мир! Это проверка кодировки.'.encode('koi8-r'))['encoding'])`,
  'charset-normalizer': `from charset_normalizer import from_bytes
print(str(from_bytes('déjà vu, façade, naïve café'.encode('utf-8')).best()))`,
  click: `import click
from click.testing import CliRunner
@click.command()
@click.option('--n', type=int, default=1)
@click.argument('name')
def hello(n, name):
    for _ in range(n): click.echo(f'hello {name}')
print(CliRunner().invoke(hello, ['--n', '2', 'bob']).output)`,
  colorama: `import colorama
print(repr(colorama.Fore.RED + 'x' + colorama.Style.RESET_ALL))`,
  decorator: `from decorator import decorator
@decorator
def trace(f, *args, **kw): print(f.__name__, args); return f(*args, **kw)
@trace
def add(a, b): return a + b
print(add(1, 2))`,
  distlib: `from distlib.version import NormalizedVersion as V
print(V('1.2rc1') < V('1.2'))`,
  docutils: `from docutils.core import publish_parts
print(publish_parts('Title\\n=====\\n\\n*hi*', writer_name='html')['body'].strip())`,
  faker: `from faker import Faker
Faker.seed(1)
print(len(Faker().name()) > 3, '@' in Faker('de_DE').email())`,
  filelock: `import tempfile
from filelock import FileLock
with FileLock(tempfile.mkdtemp() + '/lock') as lock: print(lock.is_locked)
print(lock.is_locked)`,
  flask: `from flask import Flask, render_template_string, jsonify
app = Flask(__name__)
@app.route('/<name>')
def page(name): return render_template_string('<b>{{ name }}</b>', name=name)
client = app.test_client()
print(client.get('/a%3Cb').text, client.get('/').status_code)`,
  h11: `import h11
conn = h11.Connection(our_role=h11.CLIENT)
print(conn.send(h11.Request(method='GET', target='/', headers=[('host', 'a')])))`,
  html5lib: `import html5lib
print([e.tag.split('}')[1] for e in html5lib.parse('<p>a<table><td>b').iter()])`,
  httpcore: `import httpcore
print(httpcore.Request('GET', 'https://example.com:8080/a').url.origin)`,
  httpx: `import httpx
client = httpx.Client(transport=httpx.MockTransport(lambda r: httpx.Response(200, json={'path': r.url.path})))
print(client.get('http://a/b', params={'c': 1}).json())`,
  humanize: `import humanize
print(humanize.naturalsize(1234567), humanize.intword(1_200_000), humanize.ordinal(3))`,
  idna: `import idna
print(idna.encode('bücher.example'), idna.decode('xn--bcher-kva.example'))`,
  iniconfig: `import iniconfig
open('/tmp/coldframe-a.ini', 'w').write('[a]\\nb = 1\\n')
print(iniconfig.IniConfig('/tmp/coldframe-a.ini')['a']['b'])`,
  isodate: `import isodate
print(isodate.parse_duration('P1DT2H'), isodate.parse_datetime('2024-01-02T03:04:05Z'))`,
  isort: `import isort
print(isort.code('import sys\\nimport os\\nfrom b import c, a\\n'))`,
  itsdangerous: `from itsdangerous import URLSafeSerializer
s = URLSafeSerializer('key')
print(s.dumps([1, 'a']), s.loads(s.dumps([1, 'a'])))`,
  jinja2: `from jinja2 import Environment
print(Environment(autoescape=True).from_string('{% for x in xs %}{{ loop.index }}={{ x }};{% endfor %}').render(xs=['<', 'b']))`,
  jmespath: `import jmespath
print(jmespath.search('people[?age > \`20\`].name', {'people': [{'name': 'a', 'age': 30}, {'name': 'b', 'age': 10}]}))`,
  loguru: `from loguru import logger
import sys
logger.remove()
logger.add(sys.stdout, format='{level}:{message}')
logger.warning('hi {}', 1)`,
  markdown: `import markdown
print(markdown.markdown('# a\\n\\n| x | y |\\n|---|---|\\n| 1 | 2 |', extensions=['tables']))`,
  'markdown-it-py': `from markdown_it import MarkdownIt
print(MarkdownIt().render('*a* [b](http://c)'))`,
  marshmallow: `from marshmallow import Schema, fields
class User(Schema):
    name = fields.Str(required=True)
    age = fields.Int()
print(User().load({'name': 'a', 'age': '3'}), User().validate({'age': 'x'}))`,
  mdurl: `import mdurl
print(mdurl.encode('http://a/b c'))`,
  'more-itertools': `from more_itertools import chunked, windowed
print(list(chunked(range(5), 2)), list(windowed([1, 2, 3], 2)))`,
  mpmath: `from mpmath import mp
mp.dps = 40
print(mp.pi)`,
  networkx: `import networkx as nx
graph = nx.Graph([(1, 2), (2, 3), (3, 4), (1, 4), (4, 5)])
print(nx.shortest_path(graph, 1, 5), nx.degree_histogram(graph))`,
  packaging: `from packaging.version import Version
from packaging.requirements import Requirement
print(Version('1.10') > Version('1.9'), Requirement('a[b]>=1; python_version > "3"').specifier)`,
  peewee: `from peewee import SqliteDatabase, Model, CharField
db = SqliteDatabase(':memory:')
class P(Model):
    name = CharField()
    class Meta: database = db
db.create_tables([P])
P.create(name='a'); P.create(name='b')
print([p.name for p in P.select().order_by(P.name.desc())])`,
  phonenumbers: `import phonenumbers as p
print(p.format_number(p.parse('020 8366 1177', 'GB'), p.PhoneNumberFormat.INTERNATIONAL))`,
  platformdirs: `import platformdirs
print(platformdirs.user_config_dir('app').endswith('/.config/app'))`,
  pluggy: `import pluggy
spec, impl = pluggy.HookspecMarker('a'), pluggy.HookimplMarker('a')
class Spec:
    @spec
    def run(self, n): ...
class Plug:
    @impl
    def run(self, n): return n + 1
m = pluggy.PluginManager('a'); m.add_hookspecs(Spec); m.register(Plug())
print(m.hook.run(n=1))`,
  pycodestyle: `import pycodestyle
checker = pycodestyle.Checker(lines=['x=1\\n'], quiet=True)
print(checker.check_all())`,
  pyflakes: `from pyflakes.api import check
print(check('import os\\n', 'a.py'))`,
  pygments: `from pygments import highlight
from pygments.lexers import PythonLexer
from pygments.formatters import HtmlFormatter
print(highlight('def f(): return "a"', PythonLexer(), HtmlFormatter()))`,
  pyjwt: `import jwt
token = jwt.encode({'a': 1}, 'k' * 32, algorithm='HS256')
print(token, jwt.decode(token, 'k' * 32, algorithms=['HS256']))`,
  pyparsing: `from pyparsing import Word, nums, delimited_list
print(delimited_list(Word(nums)).parse_string('1, 2,3').as_list())`,
  pytest: `import pytest
open('/tmp/test_coldframe.py', 'w').write('def test_a(): pass\\ndef test_b(tmp_path): assert tmp_path.exists()\\n')
import contextlib, io
with contextlib.redirect_stdout(io.StringIO()) as out:
    code = pytest.main(['-q', '-p', 'no:cacheprovider', '/tmp/test_coldframe.py'])
print(int(code), '2 passed' in out.getvalue())`,
  'python-dateutil': `from dateutil import parser, relativedelta, rrule
d = parser.parse('3 March 2024 10:00')
print(d + relativedelta.relativedelta(months=1), [x.day for x in rrule.rrule(rrule.DAILY, count=3, dtstart=d)])`,
  'python-dotenv': `from io import StringIO
from dotenv import dotenv_values
print(dict(dotenv_values(stream=StringIO('A=1\\nB="two words"\\nC=\${A}\\n'))))`,
  pytz: `import pytz, datetime
print(pytz.timezone('Europe/Berlin').localize(datetime.datetime(2024, 7, 1)).isoformat())`,
  requests: `import requests
r = requests.Request('GET', 'http://a/b', params={'c': ['1', '2']}, headers={'X': 'y'}).prepare()
print(r.url, r.headers)`,
  rich: `from rich.console import Console
from rich.table import Table
table = Table(title='T'); table.add_column('a'); table.add_row('1')
Console(width=20, force_terminal=False).print(table)`,
  setuptools: `from setuptools import find_packages
import os
os.makedirs('/tmp/coldframe-p/a', exist_ok=True); open('/tmp/coldframe-p/a/__init__.py', 'w').close()
print(find_packages('/tmp/coldframe-p'))`,
  simpy: `import simpy
def car(env):
    for _ in range(2):
        yield env.timeout(5); print(env.now)
env = simpy.Environment(); env.process(car(env)); env.run(until=20)`,
  six: `import six
print(six.ensure_str(b'a'), six.moves.urllib.parse.quote('a b'))`,
  sniffio: `import asyncio, sniffio
async def main(): return sniffio.current_async_library()
print(asyncio.run(main()))`,
  sortedcontainers: `from sortedcontainers import SortedDict, SortedList
print(SortedList([3, 1, 2]), SortedDict(b=1, a=2))`,
  soupsieve: `import soupsieve
print(soupsieve.compile('p > a.b').pattern)`,
  sqlalchemy: `from sqlalchemy import create_engine, text, Table, Column, Integer, String, MetaData, select
engine = create_engine('sqlite://')
meta = MetaData(); t = Table('t', meta, Column('id', Integer, primary_key=True), Column('name', String)); meta.create_all(engine)
with engine.begin() as c:
    c.execute(t.insert(), [{'name': 'a'}, {'name': 'b'}])
    print(c.execute(select(t.c.name).where(t.c.id > 1)).all())`,
  sqlparse: `import sqlparse
print(sqlparse.format('select a from b where c = 1', reindent=True, keyword_case='upper'))`,
  starlette: `import asyncio
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
async def home(request): return JSONResponse({'path': request.url.path})
app = Starlette(routes=[Route('/a', home)])
async def main():
    sent = []
    async def receive(): return {'type': 'http.request'}
    async def send(m): sent.append(m)
    scope = {'type': 'http', 'method': 'GET', 'path': '/a', 'headers': [], 'query_string': b'', 'server': ('a', 80)}
    await app({**scope, 'scheme': 'http'}, receive, send)
    print(sent[1]['body'])
asyncio.run(main())`,
  structlog: `import structlog
structlog.configure(processors=[structlog.processors.JSONRenderer(sort_keys=True)])
structlog.get_logger().info('hi', a=1)`,
  tabulate: `from tabulate import tabulate
print(tabulate([['a', 1], ['b', 22]], headers=['n', 'v'], tablefmt='github'))`,
  tenacity: `from tenacity import retry, stop_after_attempt, wait_none
n = 0
@retry(stop=stop_after_attempt(3), wait=wait_none())
def f():
    global n; n += 1
    if n < 3: raise OSError
    return n
print(f())`,
  toml: `import toml
print(toml.dumps(toml.loads('[a]\\nb = [1, 2]\\nc = "x"')))`,
  tomli: `import tomli
print(tomli.loads('a = 1979-05-27\\n[b]\\nc = 0x10'))`,
  tomlkit: `import tomlkit
doc = tomlkit.parse('# note\\na = 1\\n'); doc['b'] = [1]
print(tomlkit.dumps(doc))`,
  tqdm: `from tqdm import tqdm
import io
out = io.StringIO()
print(sum(tqdm(range(5), file=out)), '5/5' in out.getvalue())`,
  'typing-extensions': `from typing_extensions import TypedDict, get_type_hints
class A(TypedDict, total=False): a: int
print(get_type_hints(A))`,
  urllib3: `import urllib3
print(urllib3.util.parse_url('http://u:p@a:80/b?c#d'), urllib3.util.Retry(3).get_backoff_time())`,
  werkzeug: `from werkzeug.test import Client
from werkzeug.wrappers import Request, Response
@Request.application
def app(request): return Response(f'{request.path} {request.args["a"]}')
print(Client(app).get('/x?a=1').text)`,
  wheel: `import wheel
print(wheel.__name__)`,
  xmltodict: `import xmltodict
print(xmltodict.parse('<a x="1"><b>2</b><b>3</b></a>'))`,
};
