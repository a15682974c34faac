import type { Kind } from './kind.ts'

/** Where a project says that it is tested by pytest. */
const configured = [
  ['pytest.ini', /^/],
  ['conftest.py', /^/],
  ['tests/conftest.py', /^/],
  ['pyproject.toml', /pytest/],
  ['setup.cfg', /^\[tool:pytest\]/m],
  ['tox.ini', /^\[pytest\]/m],
  ['requirements-dev.txt', /^pytest\b/m],
  ['requirements.txt', /^pytest\b/m],
] as const

/** What keeps a project's packages, and how something is run among them. */
const among = [
  ['uv.lock', 'uv run'],
  ['poetry.lock', 'poetry run'],
  ['pdm.lock', 'pdm run'],
  ['Pipfile.lock', 'pipenv run'],
  ['.venv/pyvenv.cfg', '.venv/bin/python -m'],
  ['venv/pyvenv.cfg', 'venv/bin/python -m'],
] as const

export const python: Kind = async (read) => {
  const files = await Promise.all(configured.map(([path]) => read(path)))
  if (!configured.some(([, says], at) => files[at] !== undefined && says.test(files[at]))) return unconfigured(read)
  for (const [path, run] of among) if ((await read(path)) !== undefined) return [`${run} pytest`]
  return ['python3 -m pytest']
}

/** What comes with the language, or with Django. */
const unconfigured: Kind = async (read) => {
  if ((await read('manage.py')) !== undefined) return ['python3 manage.py test']
  return (await read('tests/__init__.py')) === undefined ? [] : ['python3 -m unittest discover']
}
