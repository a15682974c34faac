import type { Skill } from './skill.ts'
import { commandOf } from './skill.ts'

/** A prompt that asks for a skill in words that whoever takes it over understands too. */
export function skillPrompt(name: string, request: string): string {
  return `Use the skill ${name}: ${request.trim()}`
}

/** The skill that a prompt asks for, by such words or by its trigger: it need not wait for the model to load it. */
export function askedSkill(prompt: string, skills: readonly Skill[]): Skill | undefined {
  const name = /^Use the skill ([\w.-]+):(?:\s|$)/.exec(prompt)?.[1]
  if (name !== undefined) return skills.find((skill) => skill.name === name)
  const command = /^\/([\w-]+)(?:\s|$)/.exec(prompt)?.[1]
  return command === undefined ? undefined : skills.find((skill) => commandOf(skill) === command)
}
