import type { Command } from '../../core/talk/command.ts'
import type { SystemSpec } from '../../core/profile/system-spec.ts'
import type { DeskControls } from '../desk-controls.ts'
import { machineFacts } from '../../machine/machine-summary.ts'
import { UsageError } from '../../core/io.ts'
import { machineOf } from '../../native/machine-facts.ts'
import { list } from '../../base/text/table.ts'

/** Scans the machine again; native sessions start a new frame with the result. */
export function refreshSystemCommand(controls: DeskControls): Command {
  return {
    name: 'refresh-system',
    help: 'Scan this machine again.',
    async run(args, { say, signal }) {
      if (args.trim() !== '') throw new UsageError('/refresh-system takes no arguments.')
      const machine = machineOf(controls.app().native)
      const before = await machine.known()
      const { spec, unkept } = await machine.scan({ asked: true, signal })
      if (signal.aborted) return
      // The first scan may name programs that do not start, so the result of the whole scan is shown.
      const changed = before.scannedAt === undefined ? [] : [differences(before.spec, spec)]
      say([...machineFacts(spec).map((fact) => fact.join(': ')), ...changed].join('\n'), 'note')
      if (unkept !== undefined) say(`The scan could not be saved, so no agent knows of it: ${unkept}`, 'error')
    },
  }
}

function differences(before: SystemSpec, now: SystemSpec): string {
  const [was, is] = [namesIn(before), namesIn(now)]
  const fresh = is.filter((name) => !was.includes(name))
  const gone = was.filter((name) => !is.includes(name))
  const words = [
    ...(fresh.length > 0 ? [`New: ${list(fresh)}.`] : []),
    ...(gone.length > 0 ? [`Gone: ${list(gone)}.`] : []),
  ]
  return words.length > 0 ? words.join(' ') : 'No program was added or removed.'
}

const namesIn = ({ runtimes, binaries, packageManagers }: SystemSpec) => [
  ...Object.keys(runtimes),
  ...Object.keys(binaries),
  ...packageManagers,
]
