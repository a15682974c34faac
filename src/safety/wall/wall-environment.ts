import { join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

type WallEnvironment = {
  /** Names that the settings add; they are passed whatever they hold. */
  extra?: readonly string[]
  /** The temporary folder, as the command sees it. */
  temporary?: string
  /** The folder of this project for caches of package managers; without it no variable names a cache. */
  caches?: string
}

/**
 * The environment of a command behind a wall: an allow-list, because every vendor's key has a name of its own. Caches lead to
 * a folder of the project's own, so that a command leaves nothing in the person's caches for other projects to run.
 */
export function wallEnvironment(env: Environment, how: WallEnvironment = {}): Record<string, string> {
  const { extra = [], temporary = '/tmp', caches } = how
  const passed = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (extra.includes(entry[0]) || (isHarmless(entry[0]) && !withPassword.test(entry[1]))),
  )
  return {
    ...Object.fromEntries(passed),
    ...{ TMPDIR: temporary, TMP: temporary, TEMP: temporary },
    ...(caches === undefined ? {} : cacheVariables(caches, env)),
  }
}

/** An address with a password in it, as proxies and package registries have them. */
const withPassword = /:\/\/[^/\s@]*:[^/\s@]*@/

function isHarmless(name: string): boolean {
  if (names.has(name)) return true
  return families.some((family) => family.test(name)) && !secretName.test(name)
}

/** Parts of names that hold a secret also where their family is harmless: NODE_AUTH_TOKEN, npm_config__auth. */
const secretName = /auth|token|secret|passw|passphrase|credential|cookie|session|cert|otp|(?:^|_|[a-z])key(?:$|_|s$)/i

const names: ReadonlySet<string> = new Set([
  // The person and the place.
  ...['HOME', 'USER', 'LOGNAME', 'SHELL', 'PATH', 'PWD', 'OLDPWD', 'SHLVL', 'HOSTNAME', 'TZ', 'LANG', 'LANGUAGE'],
  // The terminal and how programs show their output.
  ...['TERM', 'COLORTERM', 'TERM_PROGRAM', 'TERM_PROGRAM_VERSION', 'TERMINFO', 'TERMINFO_DIRS', 'COLUMNS', 'LINES'],
  ...['NO_COLOR', 'FORCE_COLOR', 'CLICOLOR', 'CLICOLOR_FORCE', 'LS_COLORS', 'GREP_COLORS', 'LESS', 'LESSCHARSET'],
  ...['PAGER', 'MANPAGER', 'MANPATH', 'INFOPATH', 'EDITOR', 'VISUAL', 'GIT_PAGER', 'GIT_EDITOR'],
  // Where programs and their data are found.
  ...['XDG_CONFIG_HOME', 'XDG_CONFIG_DIRS', 'XDG_DATA_HOME', 'XDG_DATA_DIRS', 'XDG_STATE_HOME'],
  ...['LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'DYLD_FALLBACK_LIBRARY_PATH', 'LIBRARY_PATH', 'CPATH', 'PKG_CONFIG_PATH'],
  ...['NIX_PATH', 'NIX_PROFILES', 'NIX_SSL_CERT_FILE', 'LOCALE_ARCHIVE', 'DEVELOPER_DIR', 'SDKROOT'],
  // The person's name in commits.
  ...['GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL', 'GIT_COMMITTER_NAME', 'GIT_COMMITTER_EMAIL', 'EMAIL'],
  // The way to the network, where one is open.
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE'],
  // Builds.
  ...[
    'CI',
    'DEBUG',
    'VERBOSE',
    'MAKEFLAGS',
    'MAKELEVEL',
    'CC',
    'CXX',
    'CPP',
    'LD',
    'AR',
    'CFLAGS',
    'CXXFLAGS',
    'LDFLAGS',
  ],
  ...['CPPFLAGS', 'SOURCE_DATE_EPOCH', 'JAVA_HOME', 'JDK_HOME', 'MAVEN_HOME', 'M2_HOME', 'MAVEN_OPTS', 'MAVEN_ARGS'],
  ...['GRADLE_HOME', 'GRADLE_OPTS', 'ANT_HOME', 'KOTLIN_HOME', 'SCALA_HOME', 'SBT_OPTS', 'ANDROID_HOME'],
  ...['ANDROID_SDK_ROOT', 'ANDROID_NDK_HOME', 'FLUTTER_ROOT', 'PUB_CACHE', 'VIRTUAL_ENV', 'VIRTUAL_ENV_PROMPT'],
  ...[
    'GEM_HOME',
    'GEM_PATH',
    'DENO_INSTALL',
    'BUN_INSTALL',
    'PNPM_HOME',
    'NVM_DIR',
    'NVM_BIN',
    'FNM_DIR',
    'VOLTA_HOME',
  ],
  ...['ASDF_DIR', 'ASDF_DATA_DIR', 'SDKMAN_DIR', 'CONDA_PREFIX', 'CONDA_DEFAULT_ENV', 'CONDA_EXE', 'MAMBA_ROOT_PREFIX'],
])

/** Families of names of languages and tools. */
const families = [
  /^LC_/,
  /^NODE_/,
  /^npm_(?:config|package|lifecycle)_/,
  /^(?:PNPM|YARN|BUN|DENO|COREPACK)_/,
  /^(?:PYTHON|PIP_|UV_|POETRY_|PYENV_|PYTEST_|TOX_)/,
  /^(?:RUST|CARGO_|RUSTUP_)/,
  /^GO(?:PATH|ROOT|BIN|OS|ARCH|FLAGS|TOOLCHAIN|PROXY|PRIVATE|NOSUMDB|SUMDB|EXPERIMENT|MAXPROCS|GC|AMD64|ARM)$/,
  /^CGO_/,
  /^(?:RUBY|BUNDLE_|RBENV_|RAILS_ENV$|RACK_ENV$)/,
  /^(?:DOTNET_|NUGET_|MSBUILD)/,
  /^(?:COMPOSER_|PHP_)/,
  /^(?:CMAKE_|NINJA_|MESON_|CTEST_)/,
  /^(?:MISE_|ASDF_)/,
]

/** Variables that lead package managers and compilers to a folder for data that may be lost. */
function cacheVariables(folder: string, env: Environment): Record<string, string> {
  const inside = (name: string) => join(folder, name)
  const ofPerson = env.XDG_CACHE_HOME ?? (env.HOME === undefined ? undefined : join(env.HOME, '.cache'))
  return {
    XDG_CACHE_HOME: inside('xdg'),
    npm_config_cache: inside('npm'),
    npm_config_store_dir: inside('pnpm-store'),
    YARN_CACHE_FOLDER: inside('yarn'),
    YARN_GLOBAL_FOLDER: inside('yarn-berry'),
    BUN_INSTALL_CACHE_DIR: inside('bun'),
    DENO_DIR: inside('deno'),
    COREPACK_HOME: inside('corepack'),
    PIP_CACHE_DIR: inside('pip'),
    UV_CACHE_DIR: inside('uv'),
    POETRY_CACHE_DIR: inside('poetry'),
    PIPENV_CACHE_DIR: inside('pipenv'),
    PRE_COMMIT_HOME: inside('pre-commit'),
    GOCACHE: inside('go-build'),
    GOMODCACHE: inside('go-mod'),
    GOLANGCI_LINT_CACHE: inside('golangci-lint'),
    CARGO_HOME: inside('cargo'),
    SCCACHE_DIR: inside('sccache'),
    CCACHE_DIR: inside('ccache'),
    GRADLE_USER_HOME: inside('gradle'),
    MAVEN_ARGS: [env.MAVEN_ARGS, `-Dmaven.repo.local=${inside('maven')}`].filter(Boolean).join(' '),
    NUGET_PACKAGES: inside('nuget'),
    DOTNET_CLI_HOME: inside('dotnet'),
    COMPOSER_CACHE_DIR: inside('composer'),
    BUNDLE_USER_CACHE: inside('bundle'),
    // Browsers for tests are large and are only run: those that the person installed are used.
    ...(ofPerson !== undefined && {
      PLAYWRIGHT_BROWSERS_PATH: env.PLAYWRIGHT_BROWSERS_PATH ?? join(ofPerson, 'ms-playwright'),
      CYPRESS_CACHE_FOLDER: env.CYPRESS_CACHE_FOLDER ?? join(ofPerson, 'Cypress'),
    }),
  }
}
