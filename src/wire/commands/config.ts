import type { Parsed } from '../args.ts'
import type { Io } from '../io.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { redactor } from '../../safety/redaction.ts'
import { print, say, UsageError } from '../io.ts'
import { personAt } from '../person.ts'
import { placeOf } from '../place.ts'
import { enabledAgents } from '../roster.ts'
import { editSettings } from '../settings/edit.ts'
import { nobodyWords } from '../settings/nobody.ts'
import { readSettings } from '../settings/settings.ts'

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
      print(io, redactor(io.env)(JSON.stringify(settings, null, 2)))
      return 0
    }
    case 'validate': {
      const settings = await read()
      const count = enabledAgents(settings).length
      if (values.json) print(io, JSON.stringify({ ok: true, agents: count, warnings: settings.warnings }))
      else if (count === 0) print(io, `The settings are right, but ${nobodyWords(settings)}`)
      else
        print(io, `The settings are right: ${count} ${count === 1 ? 'agent' : 'agents'}, ${settings.rotationStrategy}.`)
      return 0
    }
    case 'edit': {
      const wrong = await editSettings({
        home: place.home,
        env: io.env,
        open: (edit) => edit(),
        validate: async () => void (await read()),
        ask: personAt(io),
        signal: io.signal,
      })
      if (wrong) throw wrong
      print(io, 'The settings are right.')
      return 0
    }
    default:
      throw new UsageError(`config: found "${words[0]}", allowed: path, print, validate, edit.`)
  }
}
