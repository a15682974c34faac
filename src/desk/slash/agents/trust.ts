import type { Command, CommandWorld } from '../../../core/talk/command.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { UsageError } from '../../../core/io.ts'
import { auditOf } from '../../../native/native-audit.ts'
import { folderFileLines, folderQuestion } from '../../../native/native-trust.ts'
import { closeNative } from '../../../native/native-parts.ts'
import { choose } from '../shared/choice.ts'
import { trustBook } from '../shared/native-agent.ts'
import { excessWords } from '../../../safety/trust/folder-trust.ts'
import { consentOptions } from '../../../core/talk/consent.ts'

const begun = 'The current session does not change; /clear begins a new one.'

/** Decides whether hooks, servers, skills and settings of this folder may be used. */
export function trustCommand(controls: DeskControls): Command {
  return {
    name: 'trust',
    help: 'Decide whether to trust this folder.',
    async run(args, world) {
      if (args.trim() !== '') throw new UsageError('/trust takes no arguments.')
      const app = controls.app()
      const { root, cwd } = app.place
      const book = trustBook(app)
      const now = await book.of(root, cwd)
      if (now.agreed) {
        const shows =
          now.files.length === 0
            ? []
            : [{ type: 'text' as const, text: (await folderFileLines(app.native, now.files)).join('\n') }]
        const text =
          now.files.length === 0
            ? `${root} is trusted: its instruction files count for the projects below it, and programs that lie in it may start in the sandbox.`
            : `The files in ${root} are trusted until one of them changes.`
        const options = consentOptions({
          always: { id: 'keep', label: 'Yes, keep trusting them' },
          no: { id: 'forget', label: 'No, stop trusting them: ask again before they are used' },
        })
        if ((await choose(world, text, options, shows, 'change nothing')) !== 'forget') return
        await audited(controls, 'forget')
        await book.forget(root)
        await applied(controls)
        return world.say(`${root} is no longer trusted. ${begun}`, 'note')
      }
      if (!(await askForTrust(controls, world)))
        return world.say('Nothing was changed: the folder is still not trusted.', 'note')
      world.say(`Trusted from the next turn on. ${begun}`, 'note')
    },
  }
}

/** Asks whether to trust the folder as it is now, and trusts it after a yes. */
export async function askForTrust(controls: DeskControls, world: CommandWorld): Promise<boolean> {
  const app = controls.app()
  const { root, cwd } = app.place
  const book = trustBook(app)
  const now = await book.of(root, cwd)
  if (now.excess !== undefined) throw new UsageError(excessWords(root, now.excess))
  const picks = await world.ask(await folderQuestion(app.native, now, book), world.signal)
  if (picks) await audited(controls, picks.includes('trust') ? 'trust' : 'no')
  if (!picks?.includes('trust')) return false
  if ((await book.trust(root, now.mark, cwd)).state !== 'trusted')
    throw new UsageError(
      'the folder changed while you looked at it, so it was not trusted. Type /trust to see it again.',
    )
  await applied(controls)
  return true
}

/** Closes tools and servers that were opened under the old decision, and reads the settings again. */
async function applied(controls: DeskControls): Promise<void> {
  await closeNative(controls.app().native)
  await controls.reload()
}

/** Records the person's answer before it takes effect. */
async function audited(controls: DeskControls, answer: 'trust' | 'no' | 'forget'): Promise<void> {
  const { native } = controls.app()
  const audit = auditOf(native)
  await audit?.record({ type: 'trust', what: native.root, answer, session: native.session })
  await audit?.settle()
}
