import { test } from 'node:test'
import assert from 'node:assert/strict'
import { wallEnvironment } from '../../src/safety/wall/wall-environment.ts'

const temporary = { TMPDIR: '/tmp', TMP: '/tmp', TEMP: '/tmp' }

test('the environment behind a wall has the variables that programs need, and no key', () => {
  const harmless = {
    ...{ PATH: '/bin', HOME: '/h', LANG: 'C.UTF-8', LC_ALL: 'C', TERM: 'xterm', TZ: 'UTC', USER: 'me', CI: '1' },
    ...{ NODE_ENV: 'test', NODE_OPTIONS: '--no-warnings', npm_config_registry: 'https://registry.example' },
    ...{ GOPATH: '/h/go', JAVA_HOME: '/java', VIRTUAL_ENV: '/h/venv', RUST_LOG: 'info', PYTHONPATH: '/p' },
    ...{ https_proxy: 'http://proxy.example:3128', GIT_AUTHOR_NAME: 'Me' },
  }
  const secret = {
    ...{
      ANTHROPIC_API_KEY: 'k',
      OPENAI_API_KEY: 'k',
      GEMINI_API_KEY: 'k',
      GITHUB_TOKEN: 'k',
      AWS_SECRET_ACCESS_KEY: 'k',
    },
    ...{ NODE_AUTH_TOKEN: 'k', npm_config__auth: 'k', 'npm_config_//registry.example/:_authToken': 'k' },
    ...{ CARGO_REGISTRY_TOKEN: 'k', UV_PUBLISH_PASSWORD: 'k', POETRY_PYPI_TOKEN_PYPI: 'k', YARN_NPM_AUTH_IDENT: 'k' },
    ...{ BUNDLE_RUBYGEMS__PKG__GITHUB__COM__KEY: 'k', PIP_INDEX_URL: 'https://me:k@pypi.example/simple' },
    ...{ HTTPS_PROXY: 'http://me:k@proxy.example:3128', DATABASE_URL: 'postgres://me:k@db/x', MY_OWN: 'k' },
    ...{ SSH_AUTH_SOCK: '/run/ssh', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/bus', DOCKER_HOST: 'tcp://127.0.0.1' },
    ...{
      DISPLAY: ':0',
      WSL_INTEROP: '/run/WSL/1',
      XDG_RUNTIME_DIR: '/run/user/1',
      LD_PRELOAD: '/p/x.so',
      BASH_ENV: 'x',
    },
  }
  assert.deepEqual(wallEnvironment({ ...harmless, ...secret, EMPTY: undefined }), { ...harmless, ...temporary })
})

test('the settings can add names, whatever they hold', () => {
  const env = { PATH: '/bin', DATABASE_URL: 'postgres://me:k@db/x', OTHER: 'k' }
  assert.deepEqual(wallEnvironment(env, { extra: ['DATABASE_URL', 'ABSENT'] }), {
    ...{ PATH: '/bin', DATABASE_URL: 'postgres://me:k@db/x' },
    ...temporary,
  })
})

test('caches lead into the folder of the project, never to those of the person', () => {
  const env = { HOME: '/h', npm_config_cache: '/h/.npm', CARGO_HOME: '/h/.cargo', MAVEN_ARGS: '-q' }
  const { HOME, PLAYWRIGHT_BROWSERS_PATH, CYPRESS_CACHE_FOLDER, MAVEN_ARGS, ...caches } = wallEnvironment(env, {
    caches: '/c',
    temporary: '/c/tmp',
  })
  assert.deepEqual([HOME, MAVEN_ARGS], ['/h', '-q -Dmaven.repo.local=/c/maven'])
  assert.deepEqual(
    [PLAYWRIGHT_BROWSERS_PATH, CYPRESS_CACHE_FOLDER],
    ['/h/.cache/ms-playwright', '/h/.cache/Cypress'],
    'browsers are only run',
  )
  assert.deepEqual(
    Object.entries(caches).filter(([, value]) => !value.startsWith('/c/')),
    [],
  )
  assert.deepEqual([caches.npm_config_cache, caches.CARGO_HOME, caches.TMPDIR], ['/c/npm', '/c/cargo', '/c/tmp'])
})
