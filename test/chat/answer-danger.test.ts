import { test } from 'node:test'
import { optionLines } from '../../src/core/talk/consent.ts'
import { CardAnswers } from '../../src/chat/cards/card-answers.ts'
import { dark, plain } from '../../src/chat/style/theme.ts'
import { goldenOf } from '../golden.ts'
import { askedOf, goldensOf } from './golden-screens.ts'

const golden = goldenOf(import.meta.filename)

for (const cli of ['claude', 'codex', 'gemini', 'qwen', 'copilot'])
  test(`the numbers of ${cli} stay, and words and colours tell what each answer allows`, (t) => {
    const { question } = askedOf(goldensOf(cli).find(({ scene }) => scene === 'shell')!)!
    const answers = new CardAnswers(question)
    golden(t, {
      card: answers.render(100, plain),
      coloured: answers.render(100, dark),
      short: answers.renderShort(100, plain),
      lines: optionLines(question),
    })
  })
