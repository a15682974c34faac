import * as z from 'zod/mini'

const positive = z.number().check(z.positive())
const whole = z.int().check(z.positive())

export const strategies = ['round-robin', 'exhaustion', 'random'] as const
export const kinds = ['pipe', 'screen', 'acp', 'native'] as const
const leash = z.enum(['read', 'ask', 'edit', 'all'])

const agentFields = {
  command: z.optional(z.string().check(z.minLength(1))),
  args: z.optional(z.array(z.string())),
  timeoutSeconds: z.optional(positive),
  silenceSeconds: z.optional(positive),
  kind: z.optional(z.enum(kinds)),
  profile: z.optional(z.string()),
  enabled: z.optional(z.boolean()),
  leash: z.optional(leash),
  ownView: z.optional(z.boolean()),
  env: z.optional(z.record(z.string(), z.string())),
  model: z.optional(z.string()),
  baseURL: z.optional(z.string()),
  apiKeyEnv: z.optional(z.string()),
  description: z.optional(z.string()),
  idle_pattern: z.optional(z.string()),
  ready_pattern: z.optional(z.string()),
  spawn_mode: z.optional(z.enum(['window', 'pane'])),
  response_fence: z.optional(z.boolean()),
}

const listed = z.strictObject({
  name: z.string().check(z.regex(/^[\w.-]+$/)),
  contextWindowTokens: whole,
  ...agentFields,
})
const mapped = z.strictObject({ contextWindowTokens: z.optional(whole), ...agentFields })

const common = {
  $schema: z.optional(z.string()),
  rotationStrategy: z.optional(z.enum(strategies)),
  timeoutSeconds: z.optional(positive),
  silenceSeconds: z.optional(positive),
  cooldown: z.optional(
    z.strictObject({ failures: z.optional(whole), seconds: z.optional(positive), maxSeconds: z.optional(positive) }),
  ),
  leash: z.optional(leash),
  sharing: z.optional(z.enum(['all', 'ask'])),
  metaInstruction: z.optional(z.union([z.boolean(), z.string()])),
  permissions: z.optional(
    z.strictObject({
      mode: z.optional(z.enum(['default', 'acceptEdits', 'plan', 'dontAsk', 'bypass'])),
      allow: z.optional(z.array(z.string())),
      ask: z.optional(z.array(z.string())),
      deny: z.optional(z.array(z.string())),
    }),
  ),
  mcpServers: z.optional(z.record(z.string(), z.unknown())),
  hooks: z.optional(z.record(z.string(), z.unknown())),
  thinking: z.optional(z.enum(['auto', 'off', 'direct', 'consensus', 'sequential', 'decompose', 'reflect', 'script'])),
  terminals: z.optional(
    z.strictObject({
      host: z.optional(z.enum(['auto', 'tmux', 'pty'])),
      spawn_mode: z.optional(z.enum(['window', 'pane'])),
    }),
  ),
  crew: z.optional(z.strictObject({ perWorkspace: z.optional(whole), total: z.optional(whole) })),
  hub: z.optional(z.strictObject({ url: z.optional(z.string()) })),
  notify: z.optional(z.array(z.unknown())),
}

/** The file as people write it; agents as a list, or as a map from name to agent. */
export const listForm = z.strictObject({ ...common, agents: z.optional(z.array(listed)) })
export const mapForm = z.strictObject({ ...common, agents: z.optional(z.record(z.string(), mapped)) })

export type FileSettings = z.infer<typeof listForm>
export type MapSettings = z.infer<typeof mapForm>

/** For editors: completion and checks while a person writes the file. */
export function settingsSchema(): unknown {
  return z.toJSONSchema(listForm, { io: 'input' })
}
