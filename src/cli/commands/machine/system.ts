import type { SystemSpec } from '../../../core/profile/system-spec.ts'
import type { Parsed } from '../../arguments/cli-command.ts'
import type { Io } from '../../../core/io.ts'
import { withoutProject } from '../../../base/process/program-path.ts'
import { localTime } from '../../../base/time/local-time.ts'
import { Machine } from '../../../machine/machine.ts'
import { machineFacts } from '../../../machine/machine-summary.ts'
import { fileStore } from '../../../store/files/file-store.ts'
import { print, say, UsageError, voiceOf } from '../../../core/io.ts'
import { homeFolder } from '../../../home/home-files.ts'
import { table } from '../../../base/text/table.ts'

export async function run(io: Io, { values, words }: Parsed): Promise<number> {
  if (words.length > 0)
    throw new UsageError(`system takes no arguments, but found "${words[0]}". See: termaite system --help`)
  const machine = new Machine(fileStore(homeFolder(io.env), voiceOf(io)), {
    env: withoutProject(io.env, io.cwd),
    clock: io.clock,
  })
  const kept = await machine.known()
  const { spec, scannedAt, unkept } =
    kept.fresh && !values.refresh
      ? { unkept: undefined, ...kept }
      : await machine.scan({ signal: io.signal, ...(values.refresh ? { asked: true } : {}) })
  print(io, values.json ? JSON.stringify({ ...spec, scannedAt }) : report(spec, scannedAt))
  if (values.refresh && unkept !== undefined) say(io, `termaite: the scan could not be saved: ${unkept}`)
  await machine.settled()
  return io.signal.aborted ? Number(io.signal.reason) : 0
}

function report(spec: SystemSpec, scannedAt = 0): string {
  const programs = Object.entries(spec.binaries).sort(([one], [other]) => (one < other ? -1 : 1))
  return [
    table([...machineFacts(spec).filter(([name]) => name !== 'Programs'), ['Scanned', localTime(scannedAt)]]),
    ...(programs.length > 0
      ? ['', table(programs.map(([name, { path, version }]) => [name, version ?? '', path]))]
      : []),
  ].join('\n')
}
