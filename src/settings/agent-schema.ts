import { efforts } from '../core/profile/effort.ts'
import { about, list, mapOf, object, oneOf, optional } from '../core/data/shape.ts'
import { profileNames } from '../profiles/all.ts'
import {
  amount,
  count,
  describeSetting,
  filled,
  flag,
  leash,
  meaningOfLeash,
  modelText,
  name,
  numberFrom0,
  setting,
  spawnMode,
  text,
  variable,
} from './setting-shapes.ts'

/** The profile name that stops termaite from guessing a profile by the command's first word. */
export const custom = 'custom'

/** Names that mean somebody else in a conversation; settings-file.ts refuses them. */
export const reservedNames: readonly string[] = ['auto', 'user', 'termaite']
const agentName = describeSetting(name, { not: { enum: reservedNames } })

const agentFields = {
  command: setting(
    'The command of the agent. Without "args" it runs under bash exactly as it is written. May be left out if "profile" names the CLI.',
    filled,
  ),
  args: setting(
    'The arguments of "command", which is then run as a program and not as a shell command line.',
    list(text),
  ),
  timeoutSeconds: setting('How long one turn of this agent may take.', amount),
  silenceSeconds: setting('How long this agent may be silent in a turn.', amount),
  retrySeconds: setting(
    'How many seconds this native agent keeps retrying; overrides the setting retrySeconds.',
    numberFrom0,
  ),
  kind: setting(
    'How the agent is run. pipe: a CLI over a pipe; screen: a CLI in a terminal; acp: a program that speaks the Agent Client Protocol; native: termaite’s own agent on a model. Default: pipe in a list of agents, screen in a map.',
    oneOf('pipe', 'screen', 'acp', 'native'),
  ),
  profile: setting(
    'The CLI behind the agent. Default: known by the first word of "command"; "custom" stops that guess.',
    oneOf(...profileNames, custom),
  ),
  enabled: setting('Whether the agent takes turns (true).', flag),
  leash: setting(`How much this agent may do. ${meaningOfLeash}.`, leash),
  wall: setting('Whether this CLI runs behind termaite’s sandbox (false).', flag),
  ownView: setting(
    'Whether the agent is given a view of its own, made for its context window, so that a small window does not shorten the view of the others (false).',
    flag,
  ),
  env: setting('Further environment variables of this agent.', mapOf(text)),
  keys: setting(
    'Further environment variables with keys that this CLI is given, besides those of its profile.',
    list(variable),
  ),
  model: setting(
    'The model. For a native agent <provider>/<model>, as in anthropic/claude-sonnet-4-5; for a CLI the name that the CLI itself uses.',
    modelText,
  ),
  baseURL: setting('The address of the API of a native agent, with its /v1 or /v1beta.', text),
  apiKeyEnv: setting(
    'The variable that holds the key of a native agent. Default: the usual one of its provider.',
    text,
  ),
  effort: setting('How hard the model thinks, if the agent has such a setting.', oneOf(...efforts)),
  description: setting('A description of the agent, for models that choose among agents.', text),
  idle_pattern: setting(
    'A regular expression that matches one of the last five lines of the screen when the agent waits for a prompt.',
    text,
  ),
  busy_pattern: setting(
    'A regular expression that matches the screen while the agent works, even if its prompt is shown.',
    text,
  ),
  ready_pattern: setting('A regular expression that matches the screen when the agent has started.', text),
  spawn_mode: setting('Where the terminal of this agent opens.', spawnMode),
  response_fence: setting('Whether this agent is asked to put marks around its final answer (false).', flag),
}

/** The JSON Schema of an agent, which must have something to run; settings-file.ts reports an agent that has nothing. */
const runnable = {
  anyOf: [
    { properties: { kind: { const: 'native' } }, required: ['kind'] },
    { required: ['command'] },
    { properties: { profile: { not: { const: custom } } }, required: ['profile'] },
  ],
}

const windowTokens = about('The size of the context window of the agent’s model.', count)

/** The agents of the user's file in a list. */
export const agentList = list(
  describeSetting(
    object({
      name: about('The name of the agent; no two agents may have the same.', agentName),
      contextWindowTokens: windowTokens,
      ...agentFields,
    }),
    runnable,
  ),
)

/** The agents of the user's file in a map from name to agent. */
export const agentMap = mapOf(
  describeSetting(object({ contextWindowTokens: optional(windowTokens), ...agentFields }), runnable),
  agentName,
)
