import type { Env } from '../../base/env.ts'
import { join } from 'node:path'
import { toolchainsOf } from './toolchains.ts'

type Environment = Env

type WallEnvironment = {
  /** Names that the settings add; they are passed whatever their values are. */
  extra?: readonly string[]
  /** The temporary folder, at the path for the command. */
  temporary?: string
  /** The folder for this project's caches of package managers; without it no variable names a cache. */
  caches?: string
  /** The home for the command; without it the command keeps the person's home. */
  home?: string
  /** The file with the person's plain git settings. */
  gitSettings?: string
}

/**
 * The environment of a command behind a wall: an allow-list of names, because every vendor's key has a different name. Caches are in a
 * folder of the project's own, so that a command leaves nothing in the person's caches that other projects would run. Toolchains of the
 * person are named by their variables, because programs would look for them in the home.
 */
export function wallEnvironment(env: Environment, how: WallEnvironment = {}): Record<string, string> {
  const { extra = [], temporary = '/tmp', caches, home, gitSettings } = how
  const passed = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (extra.includes(entry[0]) || isHarmless(entry[0], entry[1])),
  )
  // Our own options are added to the person's, if the wall lets the person's through.
  const own = { ...env, MAVEN_OPTS: passed.find(([name]) => name === 'MAVEN_OPTS')?.[1] }
  const tools = home === undefined || env.HOME === undefined ? {} : toolchainsOf(env.HOME, own).variables
  const kept = home === undefined ? passed : passed.filter(([name]) => extra.includes(name) || !ofHome.includes(name))
  return {
    ...Object.fromEntries(kept),
    ...tools,
    ...(home !== undefined && { HOME: home }),
    ...(gitSettings !== undefined && { GIT_CONFIG_GLOBAL: gitSettings }),
    ...{ TMPDIR: temporary, TMP: temporary, TEMP: temporary },
    ...(caches === undefined ? {} : cacheVariables(caches, { ...own, ...tools })),
  }
}

/** Variables that point to parts of the person's home. */
const ofHome = [
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_STATE_HOME',
  'PYTHONUSERBASE',
  'GOPATH',
  'GOBIN',
  'npm_config_prefix',
]

function isHarmless(name: string, value: string): boolean {
  if (!names.has(name) || withLogin.test(value)) return false
  const option = options[name]
  if (option) return value.split(/\s+/).every((word) => word === '' || option.test(word))
  return !addresses.has(name) || plainAddresses.test(value)
}

/** Options of a Java machine that only tune it, or control builds or name a proxy. */
const javaOption = new RegExp(
  [
    String.raw`^-X\S+$|^-(?:ea|da|esa|dsa|server|client)$|^--(?:add-(?:opens|exports|modules|reads)|enable-native-access)=\S+$`,
    String.raw`^-D(?:file\.encoding|sun\.jnu\.encoding|user\.(?:language|country|timezone)|java\.awt\.headless|java\.io\.tmpdir)=\S*$`,
    String.raw`^-D(?:java\.net\.(?:preferIPv[46]\w+|useSystemProxies)|https?\.(?:proxyHost|proxyPort|nonProxyHosts))=[\w.*|:-]*$`,
    String.raw`^-D(?:maven\.(?:repo\.local|artifact\.threads|test\.skip)|skipTests|style\.color)(?:=\S*)?$`,
    String.raw`^-D(?:org\.gradle\.(?:daemon|parallel|caching|console|workers\.max|vfs\.watch)|sbt\.(?:ci|color))=\S*$`,
  ].join('|'),
)

/**
 * Variables with options for a program that passes any option on to builds and plugins, so that a value may be a password. They are only
 * passed if every word in them is a known option.
 */
const options: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(['MAVEN_OPTS', 'GRADLE_OPTS', 'SBT_OPTS'].map((name) => [name, javaOption])),
  MAVEN_ARGS: new RegExp(
    String.raw`${javaOption.source}|^-(?:B|q|e|o|U|V|ntp|T\w+|am|amd)$|^--(?:batch-mode|quiet|errors|offline|no-transfer-progress|fail-\w+)$`,
  ),
  PYTEST_ADDOPTS:
    /^(?:-[qvxsl]+|-n\w+|-p|no:\w+|-r\w+|--(?:tb|color|maxfail|durations|dist|import-mode|capture|strict-markers|strict-config|no-header|no-cov|ff|lf)(?:=[\w.-]+)?)$/,
}

/** An address that contains a name or a password, or a setting that is one, as for proxies and package registries. */
const withLogin = /:\/\/[^/\s]*@|(?:passw|token|secret|api[-_]?key|_auth)[\w.-]*=/i

/** Addresses of package registries. If one has a path of its own, the path may contain a token. */
const addresses: ReadonlySet<string> = new Set([
  ...['npm_config_registry', 'PIP_INDEX_URL', 'UV_INDEX_URL', 'UV_DEFAULT_INDEX', 'GOPROXY'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'],
])
const plainAddresses = /^(?:(?:\w+:\/\/)?[\w.-]+(?::\d+)?\/?(?:simple\/?)?(?:[,|](?!$)|$))+$/

const names: ReadonlySet<string> = new Set([
  // The person and the folder.
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
  // The way to the network, if one is open.
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
  // How numbers, dates and texts are written.
  ...['LC_ALL', 'LC_CTYPE', 'LC_COLLATE', 'LC_MESSAGES', 'LC_MONETARY', 'LC_NUMERIC', 'LC_TIME', 'LC_PAPER', 'LC_NAME'],
  ...['LC_ADDRESS', 'LC_TELEPHONE', 'LC_MEASUREMENT', 'LC_IDENTIFICATION'],
  // JavaScript.
  ...[
    'NODE_ENV',
    'NODE_OPTIONS',
    'NODE_PATH',
    'NODE_DEBUG',
    'NODE_NO_WARNINGS',
    'NODE_DISABLE_COLORS',
    'NODE_V8_COVERAGE',
  ],
  ...[
    'NODE_PENDING_DEPRECATION',
    'NODE_ICU_DATA',
    'NODE_COMPILE_CACHE',
    'NODE_VERSION',
    'NODENV_ROOT',
    'NODENV_VERSION',
  ],
  ...[
    'npm_config_registry',
    'npm_config_yes',
    'npm_config_loglevel',
    'npm_config_fund',
    'npm_config_audit',
    'npm_config_prefix',
  ],
  ...['npm_config_progress', 'npm_config_update_notifier', 'npm_config_legacy_peer_deps', 'npm_config_engine_strict'],
  ...['npm_config_strict_ssl', 'npm_config_nodedir', 'npm_config_arch', 'npm_config_platform', 'npm_config_libc'],
  ...['npm_config_offline', 'npm_config_prefer_offline', 'npm_config_save_exact', 'npm_config_ignore_scripts'],
  ...['npm_config_foreground_scripts', 'npm_config_omit', 'npm_config_include', 'npm_config_jobs', 'npm_config_python'],
  ...['YARN_ENABLE_TELEMETRY', 'YARN_ENABLE_IMMUTABLE_INSTALLS', 'YARN_NODE_LINKER', 'DENO_NO_UPDATE_CHECK'],
  ...['COREPACK_ENABLE_STRICT', 'COREPACK_ENABLE_DOWNLOAD_PROMPT', 'COREPACK_ENABLE_AUTO_PIN'],
  ...['PLAYWRIGHT_BROWSERS_PATH', 'PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD', 'CYPRESS_CACHE_FOLDER', 'CYPRESS_INSTALL_BINARY'],
  // Python.
  ...['PYTHONPATH', 'PYTHONHOME', 'PYTHONUNBUFFERED', 'PYTHONDONTWRITEBYTECODE', 'PYTHONHASHSEED', 'PYTHONIOENCODING'],
  ...['PYTHONUTF8', 'PYTHONWARNINGS', 'PYTHONOPTIMIZE', 'PYTHONVERBOSE', 'PYTHONFAULTHANDLER', 'PYTHONNOUSERSITE'],
  ...['PYTHONUSERBASE', 'PYTHONPYCACHEPREFIX', 'PYTHONSAFEPATH', 'PYTHONDEVMODE', 'PYTHONMALLOC', 'PYTHON_VERSION'],
  ...['PIP_INDEX_URL', 'PIP_NO_INPUT', 'PIP_DISABLE_PIP_VERSION_CHECK', 'PIP_NO_CACHE_DIR', 'PIP_DEFAULT_TIMEOUT'],
  ...[
    'PIP_PREFER_BINARY',
    'PIP_REQUIRE_VIRTUALENV',
    'PIP_BREAK_SYSTEM_PACKAGES',
    'PIP_ROOT_USER_ACTION',
    'PIP_NO_COLOR',
  ],
  ...[
    'PIP_PROGRESS_BAR',
    'UV_INDEX_URL',
    'UV_DEFAULT_INDEX',
    'UV_PYTHON',
    'UV_PYTHON_PREFERENCE',
    'UV_PYTHON_DOWNLOADS',
  ],
  ...['UV_PYTHON_INSTALL_DIR', 'UV_LINK_MODE', 'UV_OFFLINE', 'UV_NO_PROGRESS', 'UV_FROZEN', 'UV_LOCKED', 'UV_NO_CACHE'],
  ...['UV_SYSTEM_PYTHON', 'UV_COMPILE_BYTECODE', 'UV_PROJECT_ENVIRONMENT', 'UV_HTTP_TIMEOUT', 'POETRY_NO_INTERACTION'],
  ...['POETRY_HOME', 'POETRY_VIRTUALENVS_CREATE', 'POETRY_VIRTUALENVS_IN_PROJECT', 'PYENV_ROOT', 'PYENV_VERSION'],
  ...['PYENV_SHELL', 'PYTEST_ADDOPTS', 'PYTEST_PLUGINS', 'PYTEST_DISABLE_PLUGIN_AUTOLOAD', 'TOXENV', 'TOX_SKIP_ENV'],
  // Rust and Go.
  ...['RUST_LOG', 'RUST_BACKTRACE', 'RUST_LIB_BACKTRACE', 'RUST_MIN_STACK', 'RUST_TEST_THREADS', 'RUST_TEST_NOCAPTURE'],
  ...['RUSTFLAGS', 'RUSTDOCFLAGS', 'RUSTC', 'RUSTC_WRAPPER', 'RUSTUP_HOME', 'RUSTUP_TOOLCHAIN', 'CARGO_TERM_COLOR'],
  ...['CARGO_TERM_VERBOSE', 'CARGO_BUILD_JOBS', 'CARGO_BUILD_TARGET', 'CARGO_INCREMENTAL', 'CARGO_TARGET_DIR'],
  ...['CARGO_NET_OFFLINE', 'CARGO_NET_RETRY', 'CARGO_ENCODED_RUSTFLAGS', 'CARGO_HOME', 'ELAN_HOME'],
  ...[
    'GOPATH',
    'GOROOT',
    'GOBIN',
    'GOOS',
    'GOARCH',
    'GOFLAGS',
    'GOTOOLCHAIN',
    'GOPROXY',
    'GOPRIVATE',
    'GONOSUMDB',
    'GOSUMDB',
  ],
  ...[
    'GOEXPERIMENT',
    'GOMAXPROCS',
    'GOGC',
    'GOAMD64',
    'GOARM',
    'CGO_ENABLED',
    'CGO_CFLAGS',
    'CGO_CPPFLAGS',
    'CGO_CXXFLAGS',
  ],
  ...['CGO_LDFLAGS'],
  // Ruby, .NET and PHP.
  ...['RUBYOPT', 'RUBYLIB', 'RUBY_VERSION', 'RUBY_ENGINE', 'RUBY_ROOT', 'RBENV_ROOT', 'RBENV_VERSION', 'RBENV_SHELL'],
  ...[
    'BUNDLE_PATH',
    'BUNDLE_GEMFILE',
    'BUNDLE_WITH',
    'BUNDLE_WITHOUT',
    'BUNDLE_JOBS',
    'BUNDLE_RETRY',
    'BUNDLE_DEPLOYMENT',
  ],
  ...['BUNDLE_FROZEN', 'BUNDLE_BIN', 'BUNDLE_SILENCE_ROOT_WARNING', 'RAILS_ENV', 'RACK_ENV'],
  ...['DOTNET_ROOT', 'DOTNET_NOLOGO', 'DOTNET_CLI_TELEMETRY_OPTOUT', 'DOTNET_SKIP_FIRST_TIME_EXPERIENCE'],
  ...[
    'DOTNET_ENVIRONMENT',
    'DOTNET_SYSTEM_GLOBALIZATION_INVARIANT',
    'DOTNET_CLI_UI_LANGUAGE',
    'ASPNETCORE_ENVIRONMENT',
  ],
  ...['NUGET_XMLDOC_MODE', 'MSBUILDDISABLENODEREUSE', 'COMPOSER_ALLOW_SUPERUSER', 'COMPOSER_NO_INTERACTION'],
  ...['COMPOSER_MEMORY_LIMIT', 'COMPOSER_PROCESS_TIMEOUT', 'PHP_INI_SCAN_DIR', 'PHP_INI_DIR', 'PHP_VERSION'],
  // C and C++, and installers of many languages.
  ...['CMAKE_BUILD_TYPE', 'CMAKE_GENERATOR', 'CMAKE_PREFIX_PATH', 'CMAKE_BUILD_PARALLEL_LEVEL', 'CMAKE_TOOLCHAIN_FILE'],
  ...[
    'CMAKE_INSTALL_PREFIX',
    'CMAKE_C_COMPILER_LAUNCHER',
    'CMAKE_CXX_COMPILER_LAUNCHER',
    'CMAKE_EXPORT_COMPILE_COMMANDS',
  ],
  ...[
    'NINJA_STATUS',
    'CTEST_OUTPUT_ON_FAILURE',
    'CTEST_PARALLEL_LEVEL',
    'MESON_TESTTHREADS',
    'MISE_DATA_DIR',
    'MISE_SHELL',
  ],
  ...['MISE_ENV', 'MAMBA_EXE'],
])

/** The name of pnpm's store in the folder of caches. */
export const pnpmStore = 'pnpm-store'

/** Variables that point package managers and compilers to a folder for data that may be lost. */
function cacheVariables(folder: string, env: Environment): Record<string, string> {
  const inside = (name: string) => join(folder, name)
  return {
    XDG_CACHE_HOME: inside('xdg'),
    npm_config_cache: inside('npm'),
    // Versions of pnpm before 11 read it from the settings in the home that is made for the project.
    pnpm_config_store_dir: inside(pnpmStore),
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
    MAVEN_OPTS: [env.MAVEN_OPTS, `-Dmaven.repo.local=${inside('maven')}`].filter(Boolean).join(' '),
    NUGET_PACKAGES: inside('nuget'),
    DOTNET_CLI_HOME: inside('dotnet'),
    COMPOSER_CACHE_DIR: inside('composer'),
    BUNDLE_USER_CACHE: inside('bundle'),
    // Browsers for tests are large and are only run, so the person's installed ones are used.
    PLAYWRIGHT_BROWSERS_PATH: env.PLAYWRIGHT_BROWSERS_PATH ?? inside('ms-playwright'),
    CYPRESS_CACHE_FOLDER: env.CYPRESS_CACHE_FOLDER ?? inside('Cypress'),
  }
}
