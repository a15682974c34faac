import type { Env } from '../base/env.ts'
import { nearest } from '../base/text/nearest.ts'

/** An environment variable, and what it does. `set`: termaite sets it itself for the programs that it starts. */
type Variable = { name: string; does: string; set?: true }

/** Variables of one kind, with their `title`. */
type VariableGroup = { title: string; rows: readonly Variable[] }

/** termaite's own variables. Any other name with their prefix is a mistake, which `strayVariables` finds. */
const own: readonly Variable[] = [
  { name: 'TERMAITE_HOME', does: 'The folder of termaite’s own files. Default: ~/.termaite.' },
  { name: 'TERMAITE_AGENT', does: 'The agent that takes the first turn, as with -a.' },
  { name: 'TERMAITE_ROTATION', does: 'The rotation strategy, as with -r.' },
  { name: 'TERMAITE_LEASH', does: 'How much agents may do, as with --leash.' },
  { name: 'TERMAITE_SCREEN_READER', does: 'Shows the chat as plain lines for a screen reader; 0 turns that off.' },
  { name: 'TERMAITE_DEBUG', does: '1 prints every event to stderr, and where an internal error happened.' },
  { name: 'TERMAITE_KEYCHAIN', does: 'off: the keychain of the system is not used; keys are in credentials.json.' },
  { name: 'TERMAITE_MARKS', does: 'A file to which the times of a start are written, for measurements.' },
  { name: 'TERMAITE_HUB', does: 'The address of the hub, as with --server.' },
  { name: 'TERMAITE_HUB_KEY', does: 'The key to the hub.' },
  { name: 'TERMAITE_HUB_KEY_FILE', does: 'A file with the key to the hub, as with --key-file.' },
  { name: 'TERMAITE_HUB_CA', does: 'A PEM file with a certificate authority to trust, as with --ca.' },
  { name: 'TERMAITE_LEDGER', does: 'The address of the hub’s database, as with --ledger.' },
  { name: 'TERMAITE_LEDGER_PASSWORD', does: 'The password of that database.' },
  { name: 'TERMAITE_HUB_FILE', does: 'The file with the hub key of an agent that termaite started.', set: true },
  { name: 'TERMAITE_PROJECT_DIR', does: 'In a hook: the folder of the project.', set: true },
  { name: 'TERMAITE_RUN', does: 'Marks the processes of one run, so that they can be found and ended.', set: true },
  {
    name: 'TERMAITE_WITHIN',
    does: 'The project of a sandboxed agent, for the MCP server that it uses: everything that this server starts works in that project, in a sandbox.',
    set: true,
  },
  { name: 'TERMAITE_WALL', does: 'Marks the processes behind one wall.', set: true },
]

/**
 * The environment variables that termaite reads, and those that it sets. The keys of model providers are in the table of providers.
 * A test compares this table with the source code in both directions.
 */
export const variables: readonly VariableGroup[] = [
  { title: 'termaite', rows: own },
  {
    title: 'The terminal and the person',
    rows: [
      { name: 'NO_COLOR', does: 'Turns colours off.' },
      { name: 'TERM', does: 'The kind of terminal; dumb gives plain lines.' },
      { name: 'COLORFGBG', does: 'Tells whether the background of the terminal is light.' },
      { name: 'LANG', does: 'Tells whether the terminal shows more than ASCII.' },
      { name: 'STY', does: 'Set inside screen, where links are printed as text.' },
      { name: 'TMUX', does: 'Set inside tmux: terminals of agents then open in that session.' },
      { name: 'TMUX_PANE', does: 'The pane of tmux that termaite runs in.' },
      { name: 'TMUX_TMPDIR', does: 'The folder of the sockets of tmux, instead of /tmp.' },
      { name: 'VISUAL', does: 'The editor, before EDITOR.' },
      { name: 'EDITOR', does: 'The editor of /config, config edit and Ctrl+G. Default: vi.' },
      { name: 'SHELL', does: 'The shell of commands that begin with !.' },
      { name: 'SHLVL', does: 'How deeply shells are nested; if it is missing, termaite sets it to 1.' },
      { name: 'DISPLAY', does: 'The X display, for the clipboard, for notices and for the browser of /dashboard.' },
      { name: 'WAYLAND_DISPLAY', does: 'The Wayland display, for the clipboard and for the browser of /dashboard.' },
      { name: 'SSH_CONNECTION', does: 'Set over SSH, where /dashboard opens no browser.' },
      { name: 'SSH_TTY', does: 'As SSH_CONNECTION.' },
      { name: 'WSL_DISTRO_NAME', does: 'Set inside WSL, where the clipboard of Windows is used.' },
      { name: 'WSL_INTEROP', does: 'As WSL_DISTRO_NAME.' },
      { name: 'NTFY_TOKEN', does: 'The token for the ntfy server that the setting notify names.' },
    ],
  },
  {
    title: 'Folders and programs',
    rows: [
      { name: 'HOME', does: 'The home folder.' },
      { name: 'PATH', does: 'Where programs are found; relative folders in it are left out.' },
      { name: 'TMPDIR', does: 'The folder for temporary files.' },
      { name: 'NODE_COMPILE_CACHE', does: 'The folder of the cache of compiled code, before XDG_CACHE_HOME.' },
      { name: 'NODE_DISABLE_COMPILE_CACHE', does: '1 turns the cache of compiled code off.' },
      { name: 'XDG_CACHE_HOME', does: 'The folder of the cache of compiled code. Default: ~/.cache.' },
      { name: 'XDG_CONFIG_HOME', does: 'Where settings of other programs are found. Default: ~/.config.' },
      { name: 'XDG_RUNTIME_DIR', does: 'The folder for sockets whose path would be too long elsewhere.' },
      { name: 'ZDOTDIR', does: 'The folder of zsh’s files, for completion --install.' },
      { name: 'APPDATA', does: 'On Windows: where settings of other programs are found.' },
      { name: 'GIT_CONFIG_COUNT', does: 'Settings for git; termaite adds its own after them.' },
      { name: 'MAVEN_OPTS', does: 'Options of Maven; in the sandbox folders for its repository are added.' },
      { name: 'PLAYWRIGHT_BROWSERS_PATH', does: 'Where Playwright finds its browsers, also in the sandbox.' },
      { name: 'CYPRESS_CACHE_FOLDER', does: 'Where Cypress finds itself, also in the sandbox.' },
    ],
  },
  {
    title: 'Settings of other CLIs',
    rows: [
      { name: 'CLAUDE_CONFIG_DIR', does: 'The folder of Claude Code’s settings.' },
      { name: 'CODEX_HOME', does: 'The folder of Codex’s settings.' },
      { name: 'GEMINI_CLI_HOME', does: 'The folder above the settings of Gemini CLI.' },
      { name: 'QWEN_HOME', does: 'The folder of Qwen Code’s settings.' },
      {
        name: 'QWEN_CODE_SYSTEM_SETTINGS_PATH',
        does: 'The file of the machine’s settings for Qwen Code; termaite adds its own to a copy.',
      },
      { name: 'CODE_ASSIST_ENDPOINT', does: 'The address of Gemini CLI’s service for logins, passed on as it is.' },
      { name: 'COPILOT_HOME', does: 'The folder of Copilot CLI’s settings.' },
      { name: 'PI_CODING_AGENT_DIR', does: 'The folder of pi’s settings.' },
      { name: 'PI_CODING_AGENT_SESSION_DIR', does: 'The folder of pi’s sessions.' },
      { name: 'CLAUDE_PROJECT_DIR', does: 'In a hook: the folder of the project, as Claude Code names it.', set: true },
    ],
  },
  {
    title: 'The network',
    rows: [
      { name: 'HTTPS_PROXY', does: 'The proxy for https addresses; in lower case too.' },
      { name: 'HTTP_PROXY', does: 'The proxy for http addresses; in lower case too.' },
      { name: 'ALL_PROXY', does: 'The proxy if the two above are not set; in lower case too.' },
      { name: 'NO_PROXY', does: 'Hosts that are reached without a proxy; in lower case too.' },
      { name: 'SSL_CERT_FILE', does: 'A PEM file with certificate authorities to trust.' },
    ],
  },
  {
    title: 'Searching the web',
    rows: [
      { name: 'TAVILY_API_KEY', does: 'The key to Tavily.' },
      { name: 'BRAVE_API_KEY', does: 'The key to Brave Search.' },
      { name: 'SEARXNG_URL', does: 'The address of a SearXNG server.' },
    ],
  },
  {
    title: 'Traces (OpenTelemetry, Langfuse)',
    rows: [
      {
        name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
        does: 'Where traces are sent; without it, and without Langfuse, nowhere.',
      },
      {
        name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
        does: 'The whole address for traces. It is used instead of the address above.',
      },
      { name: 'OTEL_EXPORTER_OTLP_HEADERS', does: 'Headers of these requests, as in name=value,name=value.' },
      { name: 'OTEL_EXPORTER_OTLP_TRACES_HEADERS', does: 'Headers for traces, before the ones above.' },
      { name: 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT', does: 'true sends the texts of turns too.' },
      { name: 'OTEL_SDK_DISABLED', does: 'true sends nothing.' },
      { name: 'OTEL_TRACES_EXPORTER', does: 'none sends nothing.' },
      { name: 'OTEL_SERVICE_NAME', does: 'The name of the service in traces. Default: termaite.' },
      { name: 'LANGFUSE_PUBLIC_KEY', does: 'With LANGFUSE_SECRET_KEY: sends traces to Langfuse.' },
      { name: 'LANGFUSE_SECRET_KEY', does: 'The secret key to Langfuse.' },
      { name: 'LANGFUSE_HOST', does: 'The address of Langfuse, also as LANGFUSE_BASE_URL.' },
      { name: 'LANGFUSE_BASE_URL', does: 'As LANGFUSE_HOST.' },
    ],
  },
  {
    title: 'PostgreSQL, for the hub',
    rows: [
      { name: 'PGPASSWORD', does: 'The password, if no other one is given.' },
      { name: 'PGUSER', does: 'The user, if the address names none.' },
    ],
  },
  {
    title: 'Amazon Bedrock',
    rows: [
      { name: 'AWS_ACCESS_KEY_ID', does: 'The id of an access key.' },
      { name: 'AWS_SECRET_ACCESS_KEY', does: 'The secret of that access key.' },
      { name: 'AWS_SESSION_TOKEN', does: 'The session of a temporary access key.' },
      { name: 'AWS_PROFILE', does: 'The profile in the files of AWS.' },
      { name: 'AWS_DEFAULT_PROFILE', does: 'The profile if AWS_PROFILE is not set.' },
      { name: 'AWS_REGION', does: 'The region.' },
      { name: 'AWS_DEFAULT_REGION', does: 'The region if AWS_REGION is not set.' },
      { name: 'AWS_CONFIG_FILE', does: 'The file with profiles. Default: ~/.aws/config.' },
      { name: 'AWS_SHARED_CREDENTIALS_FILE', does: 'The file with credentials. Default: ~/.aws/credentials.' },
      { name: 'AWS_ENDPOINT_URL_BEDROCK_RUNTIME', does: 'An address for Bedrock’s runtime, instead of the usual one.' },
      { name: 'AWS_ENDPOINT_URL_BEDROCK', does: 'An address for Bedrock, instead of the usual one.' },
      { name: 'AWS_ENDPOINT_URL', does: 'An address for all services, instead of the usual ones.' },
      { name: 'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI', does: 'Where a container finds its credentials.' },
      {
        name: 'AWS_CONTAINER_CREDENTIALS_FULL_URI',
        does: 'Where a container finds its credentials, as a whole address.',
      },
      { name: 'AWS_CONTAINER_AUTHORIZATION_TOKEN', does: 'The token that a container sends there.' },
      { name: 'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE', does: 'The file with the token that a container sends there.' },
      { name: 'AWS_EC2_METADATA_DISABLED', does: 'true: the machine is not asked for credentials.' },
      { name: 'AWS_EC2_METADATA_SERVICE_ENDPOINT', does: 'Where the machine is asked for credentials.' },
    ],
  },
  {
    title: 'Google Vertex AI',
    rows: [
      { name: 'GOOGLE_APPLICATION_CREDENTIALS', does: 'The file with credentials.' },
      { name: 'CLOUDSDK_CONFIG', does: 'The folder of gcloud’s settings.' },
      { name: 'GOOGLE_CLOUD_PROJECT', does: 'The project.' },
      { name: 'GCLOUD_PROJECT', does: 'The project if GOOGLE_CLOUD_PROJECT is not set.' },
      { name: 'ANTHROPIC_VERTEX_PROJECT_ID', does: 'The project if neither of them is set.' },
      { name: 'GOOGLE_CLOUD_LOCATION', does: 'The region. Default: global.' },
      { name: 'GOOGLE_CLOUD_REGION', does: 'The region if GOOGLE_CLOUD_LOCATION is not set.' },
      { name: 'CLOUD_ML_REGION', does: 'The region if neither of them is set.' },
      { name: 'GCE_METADATA_HOST', does: 'Where a machine of the cloud is asked for credentials.' },
      { name: 'GCE_METADATA_IP', does: 'As GCE_METADATA_HOST.' },
      { name: 'K_SERVICE', does: 'Set on Cloud Run, where the machine is asked for credentials.' },
      { name: 'CLOUD_SHELL', does: 'Set in Cloud Shell, where the machine is asked for credentials.' },
      { name: 'GOOGLE_VM_CONFIG_LOCK_FILE', does: 'Set on machines of the cloud, which are asked for credentials.' },
    ],
  },
  {
    title: 'Azure OpenAI',
    rows: [
      { name: 'AZURE_OPENAI_ENDPOINT', does: 'The address of the resource.' },
      { name: 'AZURE_OPENAI_BASE_URL', does: 'The whole address of the API.' },
      { name: 'AZURE_OPENAI_RESOURCE', does: 'The name of the resource.' },
      { name: 'AZURE_RESOURCE_NAME', does: 'As AZURE_OPENAI_RESOURCE.' },
      { name: 'AZURE_OPENAI_AD_TOKEN', does: 'A token of Entra ID.' },
      { name: 'AZURE_AUTHORITY_HOST', does: 'The address of Entra ID.' },
    ],
  },
]

/** Returns the variables that look like termaite's but are not, for a person who mistyped one. */
export function strayVariables(env: Env): string[] {
  const names = own.map(({ name }) => name)
  return Object.keys(env)
    .filter((name) => name.startsWith('TERMAITE_') && !names.includes(name))
    .map((name) => {
      const near = nearest(name, names)
      return `The variable ${name} is not one of termaite’s${near === undefined ? '' : `; did you mean ${near}?`}`
    })
    .map((words) => (words.endsWith('?') ? words : `${words}. termaite help environment lists them.`))
}
