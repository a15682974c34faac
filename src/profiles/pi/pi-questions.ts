import type { Step } from '../../core/profile/profile.ts'
import type { Question } from '../../core/talk/question.ts'
import type { Loose } from '../shared/jsonl.ts'
import { consentOptions } from '../../core/talk/consent.ts'
import { idOf, rowOf, textOf } from '../shared/jsonl.ts'

/** The question that stands for a dialog of a pi extension, and the way to turn its answer into the extension's form. */
type Dialog = { asked: Partial<Question>; answer(pick: string): Loose }

/** A dialog that accepts any text. */
const words = (): Dialog => ({ asked: { free: true, options: [] }, answer: (value) => ({ value }) })

const dialogs: Readonly<Record<string, (request: Loose) => Dialog>> = {
  select: ({ options }) => ({
    asked: { options: (Array.isArray(options) ? options : []).map((one) => ({ id: idOf(one), label: idOf(one) })) },
    answer: (value) => ({ value }),
  }),
  confirm: () => ({
    asked: { options: consentOptions({ once: { id: 'yes', label: 'Yes' }, no: { id: 'no', label: 'No' } }) },
    answer: (pick) => ({ confirmed: pick === 'yes' }),
  }),
  input: words,
  editor: words,
}

/** Handles a request of a pi extension: a dialog waits for an answer, and things to draw on pi's own screen mean nothing here. */
export function extensionSteps(request: Loose): Step[] {
  const id = idOf(request.id)
  const message = textOf(request.message)
  if (request.method === 'notify') return message ? [{ type: 'note', text: `pi: ${message}` }] : []
  const dialog = rowOf(dialogs, request.method)?.(request)
  if (!dialog) return []
  return [
    {
      type: 'ask',
      id,
      question: {
        about: 'choice',
        text: [textOf(request.title), message].filter(Boolean).join('\n'),
        from: [],
        options: [],
        ...dialog.asked,
        unanswered: 'do not answer; the extension of pi goes on without one',
      },
      reply(picks) {
        const pick = picks?.[0]
        const said = pick === undefined ? { cancelled: true } : dialog.answer(pick)
        return `${JSON.stringify({ type: 'extension_ui_response', id, ...said })}\n`
      },
    },
  ]
}
