import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

test('addresses are passed only where nothing in them can be a login', () => {
  const plain = {
    ...{ PIP_INDEX_URL: 'https://pypi.example/simple/', npm_config_registry: 'http://registry.example:4873/' },
    ...{
      HTTPS_PROXY: 'http://proxy.example:3128',
      GOPROXY: 'https://go.example,direct',
      http_proxy: 'proxy.example:80',
    },
  }
  const secret = {
    ...{ UV_INDEX_URL: 'https://token@pypi.example/simple', UV_DEFAULT_INDEX: 'https://pypi.example/k3y/simple' },
    ...{
      HTTP_PROXY: 'http://me@proxy.example',
      ALL_PROXY: 'socks5://me:k@proxy.example',
      all_proxy: 'http://p.example/?k=1',
    },
    ...{ MAVEN_OPTS: '-Drepo.password=k', GRADLE_OPTS: '-DapiKey=k', NODE_OPTIONS: '--title=https://me:k@x.example' },
    ...{
      BUNDLE_GEMS__EXAMPLE__COM: 'me:k',
      BUNDLE_ENTERPRISE__EXAMPLE__COM: 'k',
      YARN_NPM_REGISTRY_SERVER: 'https://x',
    },
    ...{
      CARGO_REGISTRIES_OWN_INDEX: 'https://k@x',
      UV_INDEX_OWN_USERNAME: 'me',
      PIP_EXTRA_INDEX_URL: 'https://x/k/simple',
    },
    ...{ POETRY_HTTP_BASIC_OWN_USERNAME: 'me', NUGET_CREDENTIALPROVIDERS_PATH: '/k', COMPOSER_AUTH: '{}' },
  }
  assert.deepEqual(wallEnvironment({ ...plain, ...secret }), { ...plain, ...temporary })
})

test('a command with a home of its own finds toolchains by their variables, and nothing else of the person’s home', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'termaite-home-'))
  t.after(() => rmSync(home, { recursive: true }))
  const there = ['.pyenv', '.rustup', '.cargo/bin', 'go/bin', '.m2/repository', '.gradle/caches/modules-2', '.volta']
  for (const folder of there) mkdirSync(join(home, folder), { recursive: true })
  const env = {
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    GOPATH: join(home, 'go'),
    VOLTA_HOME: '/gone',
    PATH: '/bin',
  }
  assert.deepEqual(wallEnvironment(env, { home: '/own', gitSettings: '/git/config' }), {
    ...{ PATH: '/bin', HOME: '/own', GIT_CONFIG_GLOBAL: '/git/config' },
    ...{ PYENV_ROOT: join(home, '.pyenv'), RUSTUP_HOME: join(home, '.rustup'), VOLTA_HOME: join(home, '.volta') },
    MAVEN_OPTS: `-Dmaven.repo.local.tail=${join(home, '.m2/repository')}`,
    GRADLE_RO_DEP_CACHE: join(home, '.gradle/caches'),
    ...temporary,
  })
})

test('caches lead into the folder of the project, never to those of the person', () => {
  const env = {
    ...{ HOME: '/h', npm_config_cache: '/h/.npm', CARGO_HOME: '/h/.cargo', MAVEN_OPTS: '-Xmx1g', MAVEN_ARGS: '-q' },
    PLAYWRIGHT_BROWSERS_PATH: '/browsers',
  }
  const { HOME, PLAYWRIGHT_BROWSERS_PATH, MAVEN_OPTS, MAVEN_ARGS, ...caches } = wallEnvironment(env, {
    caches: '/c',
    temporary: '/c/tmp',
  })
  assert.deepEqual([HOME, MAVEN_OPTS, MAVEN_ARGS], ['/h', '-Xmx1g -Dmaven.repo.local=/c/maven', '-q'])
  assert.equal(PLAYWRIGHT_BROWSERS_PATH, '/browsers', 'browsers are only run')
  assert.deepEqual(
    Object.entries(caches).filter(([, value]) => !value.startsWith('/c/')),
    [],
  )
  assert.deepEqual([caches.npm_config_cache, caches.CARGO_HOME, caches.TMPDIR], ['/c/npm', '/c/cargo', '/c/tmp'])
})

test('options of builds are passed whole if every one of them is known, because plugins take a password by any name', () => {
  const known = {
    ...{ MAVEN_OPTS: '-Xmx2g -XX:+UseG1GC  -Dfile.encoding=UTF-8', GRADLE_OPTS: '-Dorg.gradle.daemon=false -Xmx512m' },
    ...{ MAVEN_ARGS: '-B -ntp -T1C -DskipTests', PYTEST_ADDOPTS: '-q -n4 --tb=short -p no:cacheprovider' },
    ...{ SBT_OPTS: '-Xss4m -Dhttps.proxyHost=proxy.example -Dhttps.proxyPort=3128' },
  }
  assert.deepEqual(wallEnvironment(known), { ...known, ...temporary })
  const unknown = {
    ...{
      MAVEN_OPTS: '-Xmx2g -Dsonar.login=k',
      GRADLE_OPTS: '-Dorg.gradle.project.signing=k',
      MAVEN_ARGS: '-Pnexus -Dpw=k',
    },
    ...{
      PYTEST_ADDOPTS: '--db-url k --login k',
      SBT_OPTS: '-Dhttps.proxyHost=me:k@proxy.example',
      JAVA_TOOL_OPTIONS: '-Xmx1g',
    },
  }
  assert.deepEqual(wallEnvironment(unknown), temporary)
  // Neither the caches nor the toolchains bring back what was left out.
  const home = mkdtempSync(join(tmpdir(), 'termaite-test-'))
  try {
    mkdirSync(join(home, '.m2/repository'), { recursive: true })
    const { MAVEN_OPTS } = wallEnvironment({ ...unknown, HOME: home }, { home: '/h', caches: '/c' })
    assert.equal(MAVEN_OPTS, `-Dmaven.repo.local.tail=${join(home, '.m2/repository')} -Dmaven.repo.local=/c/maven`)
    const { MAVEN_OPTS: named } = wallEnvironment(unknown, { caches: '/c', extra: ['MAVEN_OPTS'] })
    assert.equal(named, '-Xmx2g -Dsonar.login=k -Dmaven.repo.local=/c/maven')
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
})
