import { spawn } from 'node:child_process'
import { globSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ended } from '../cli/program.ts'
import { modelServer } from './model-server.ts'
import { normaliser } from './normalise.ts'
import { rig } from './rig.ts'

// Records the sessions of pi and OpenCode, which have no screen of ours: two turns, the first with a call. Usage: node test/real/record-past.ts [cli…]

const folder = join(import.meta.dirname, '..', 'fixtures', 'journals')

const commands: Record<string, string[]> = {
  pi: ['pi -p "please look at it"', 'pi -p -c "and more"'],
  opencode: ['echo "please look at it" | opencode run', 'echo "and more" | opencode run -c'],
}

/** Names and times that OpenCode makes; names keep their order. */
function plainRows(text: string): string {
  const ids = new Map<string, string>()
  const id = (found: string, kind: string) => {
    const known = ids.get(found) ?? `${kind}_${String(ids.size + 1).padStart(4, '0')}`
    ids.set(found, known)
    return known
  }
  return text.replaceAll(/\b(ses|msg|prt)_[0-9A-Za-z]+/g, id).replaceAll(/\b1[789]\d{11}\b/g, '1794744000000')
}

/** The rows that are read, table by table. */
function rowsOf(path: string): string {
  const db = new DatabaseSync(path, { readOnly: true })
  const session = db.prepare('SELECT id, parent_id, directory, time_created, time_updated FROM session').all()
  const message = db.prepare('SELECT id, session_id, time_created, data FROM message ORDER BY id').all()
  const part = db.prepare('SELECT id, message_id, session_id, time_created, data FROM part ORDER BY id').all()
  db.close()
  return plainRows(JSON.stringify({ session, message, part }, null, 2))
}

const only = process.argv.slice(2)
for (const [cli, lines] of Object.entries(commands)) {
  if (only.length > 0 && !only.includes(cli)) continue
  const model = await modelServer(({ body }) => {
    const last = JSON.stringify(body.messages?.at(-1) ?? '')
    const path = join(place.cwd, 'a.txt')
    return last.includes('please look') && body.tools
      ? { call: { tool: 'read', input: cli === 'pi' ? { path } : { filePath: path } }, text: 'I look.' }
      : { text: 'It says hi.' }
  })
  const place = await rig(cli, model.url)
  writeFileSync(join(place.cwd, 'a.txt'), 'hi\n')
  for (const line of lines) {
    const stdio = ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe']
    const { code, err } = await ended(spawn('bash', ['-c', line], { cwd: place.cwd, env: place.env, stdio }))
    process.stdout.write(`${line}: exit ${code} ${code === 0 ? '' : err}\n`)
  }
  const programs = realpathSync(join(import.meta.dirname, 'clients', 'node_modules'))
  const normal = normaliser(place.root)
  const plain = (text: string) => normal(text.replaceAll(programs, '/clients'))
  if (cli === 'pi') {
    const [path] = globSync(join(place.root, 'home/.pi/agent/sessions/*/*.jsonl'))
    writeFileSync(
      join(folder, 'pi.jsonl'),
      plain(readFileSync(path!, 'utf8')).replaceAll(/\b1[789]\d{11}\b/g, '1794744000000'),
    )
  } else
    writeFileSync(
      join(folder, 'opencode.json'),
      `${plain(rowsOf(join(place.root, 'home/.local/share/opencode/opencode.db')))}\n`,
    )
  await model.close()
  await place[Symbol.asyncDispose]()
}
