import type { Tool } from '../../core/work/tool.ts'
import type { Skill } from './shared/tool-parts.ts'
import { nearest } from '../../base/text/nearest.ts'
import { defineTool } from './shared/tool-definition.ts'
import { parser, string } from '../../core/data/shape.ts'

const input = parser({ name: string({ min: 1 }) })

/** `data.skill` names the loaded skill, so that the loop preserves its text in a compaction. */
export function loadSkill(skills: readonly Skill[]): Tool {
  return defineTool({
    name: 'load_skill',
    risk: 'read',
    input,
    aliases: { rules: ['Skill'] },
    available: () => skills.length > 0,
    effect: () => ({ does: 'nothing' }),
    async run({ name }) {
      const skill = skills.find((one) => one.name === name)
      if (!skill) {
        const names = skills.map((one) => one.name)
        const near = nearest(name, names)
        throw new Error(
          `there is no skill ${name}. ${near ? `Did you mean ${near}?` : `There are: ${names.join(', ')}.`}`,
        )
      }
      return { text: await skill.body(), data: { skill: name } }
    },
  })
}
