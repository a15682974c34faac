import type { Parsed } from '../../arguments/cli-command.ts'
import type { Io } from '../../../core/io.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { borderOf } from '../../../border/border.ts'
import { print, say, UsageError } from '../../../core/io.ts'
import { strayVariables } from '../../../core/variables.ts'
import { personAt } from '../../../questions/terminal-questions.ts'
import { placeOf } from '../../../home/place.ts'
import { enabledAgents, noAgentWords } from '../../../settings/enabled-agents.ts'
import { editSettings } from '../../../settings/settings-editor.ts'
import { SettingsError } from '../../../settings/fault.ts'
import { readSettings, type Settings } from '../../../settings/settings.ts'

export async function run(io: Io, { words, values }: Parsed): Promise<number> {
  const place = placeOf(io)
  const file = join(place.home, 'settings.json')
  const read = async () => {
    const settings = await readSettings({ home: place.home, project: place.root }, { env: io.env })
    for (const warning of settings.warnings) say(io, `termaite: ${warning}`)
    return settings
  }
  switch (words[0] ?? 'path') {
    case 'path':
      print(io, values.json ? JSON.stringify({ path: file, exists: existsSync(file) }) : file)
      return 0
    case 'print': {
      const { warnings: _warnings, ...settings } = await read()
      print(io, maskSettings(settings, place.home, io.env))
      return 0
    }
    case 'validate': {
      const strays = strayVariables(io.env)
      for (const words of strays) say(io, `termaite: ${words}`)
      const settings = await read().catch((error) => {
        if (values.json && error instanceof SettingsError)
          print(io, JSON.stringify({ ok: false, errors: error.faults }))
        throw error
      })
      const count = enabledAgents(settings).length
      if (values.json)
        print(io, JSON.stringify({ ok: true, agents: count, warnings: [...settings.warnings, ...strays] }))
      else if (count === 0) print(io, `The settings are valid, but ${noAgentWords(settings)}`)
      else
        print(
          io,
          `The settings are valid: ${count} ${count === 1 ? 'agent' : 'agents'}, rotation ${settings.rotationStrategy}.`,
        )
      return 0
    }
    case 'edit': {
      const wrong = await editSettings({
        home: place.home,
        env: io.env,
        open: (edit) => edit(),
        async validate() {
          await read()
        },
        ask: personAt(io),
        signal: io.signal,
      })
      if (wrong) throw wrong
      print(io, 'The settings are valid.')
      return 0
    }
    default:
      throw new UsageError(
        `config: found "${words[0]}", allowed: path, print, validate, edit. To see every setting: termaite config print. To change one: termaite config edit`,
      )
  }
}

/** Masks the environment values and headers of servers and agents, which often contain keys. */
function maskSettings(settings: Omit<Settings, 'warnings'>, home: string, env: Io['env']): string {
  const border = borderOf(env, home)
  const given = (name: string, values: unknown) => {
    for (const value of Object.values((values ?? {}) as Record<string, unknown>))
      if (typeof value === 'string' && !value.includes('${')) border.learn(name, value)
  }
  for (const [name, server] of Object.entries(settings.mcpServers)) {
    const { env: own, headers } = (server ?? {}) as { env?: unknown; headers?: unknown }
    given(name, own)
    given(name, headers)
  }
  for (const agent of settings.agents) given(agent.name, agent.env)
  return border.to('export', JSON.stringify(settings, null, 2))
}
