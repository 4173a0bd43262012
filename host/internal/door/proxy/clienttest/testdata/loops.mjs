// Small agents, one for each SDK, in the way of its own documentation: node loops.mjs NAME TASK, in the project's directory.
// Base URLs and keys come from the environment, as the SDKs read them.
import { readFileSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { z } from 'zod';

const [name, task] = process.argv.slice(2);
const system = 'You mend programs. Use the tools.';

// A tool: the names of its parameters, which are all strings, and what it does.
const tools = {
  read_file: [['path'], ({ path }) => readFileSync(path, 'utf8')],
  edit_file: [['path', 'old_string', 'new_string'], ({ path, old_string, new_string }) => {
    writeFileSync(path, readFileSync(path, 'utf8').replace(old_string, new_string));
    return 'done';
  }],
  bash: [['command'], ({ command }) => {
    const ran = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
    return `${ran.stdout}${ran.stderr}status ${ran.status}`;
  }],
};
const call = (tool, args) => tools[tool][1](args);
const jsonSchema = (params) => ({
  type: 'object', required: params, additionalProperties: false,
  properties: Object.fromEntries(params.map((p) => [p, { type: 'string', description: p }])),
});
const zodSchema = (params) => z.object(Object.fromEntries(params.map((p) => [p, z.string()])));
const eachTool = (make) => Object.entries(tools).map(([tool, [params]]) => make(tool, params));

async function anthropic() {
  const { default: Anthropic } = await import('@anthropic-ai/sdk');
  const client = new Anthropic();
  const messages = [{ role: 'user', content: [{ type: 'text', text: task }] }];
  while (true) {
    const request = {
      model: 'claude-sonnet-4-5', max_tokens: 3000, thinking: { type: 'enabled', budget_tokens: 1500 },
      system: [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }],
      // The marker of the conversation moves with its end.
      messages: [...messages.slice(0, -1), {
        role: 'user',
        content: messages.at(-1).content
          .map((b, i, all) => (i === all.length - 1 ? { ...b, cache_control: { type: 'ephemeral' } } : b)),
      }],
      tools: eachTool((tool, params) => ({ name: tool, description: tool, input_schema: jsonSchema(params) })),
    };
    const answer = await client.messages.stream(request).finalMessage();
    messages.push({ role: 'assistant', content: answer.content });
    if (answer.stop_reason !== 'tool_use') return answer.content.map((b) => b.text ?? '').join('');
    const calls = answer.content.filter((b) => b.type === 'tool_use');
    messages.push({
      role: 'user',
      content: calls.map((c) => ({ type: 'tool_result', tool_use_id: c.id, content: call(c.name, c.input) })),
    });
  }
}

async function openaiChat() {
  const { default: OpenAI } = await import('openai');
  const client = new OpenAI();
  const messages = [{ role: 'system', content: system }, { role: 'user', content: task }];
  while (true) {
    const stream = client.chat.completions.stream({
      model: 'gpt-4o', messages, stream_options: { include_usage: true },
      tools: eachTool((tool, params) => ({
        type: 'function', function: { name: tool, description: tool, parameters: jsonSchema(params) },
      })),
    });
    const { message } = (await stream.finalChatCompletion()).choices[0];
    messages.push(message);
    if (!message.tool_calls?.length) return message.content;
    for (const c of message.tool_calls) {
      messages.push({
        role: 'tool', tool_call_id: c.id, content: call(c.function.name, JSON.parse(c.function.arguments)),
      });
    }
  }
}

// With stored, the provider keeps the conversation and a request has what is new; else the request has all of it.
async function openaiResponses(stored) {
  const { default: OpenAI } = await import('openai');
  const client = new OpenAI();
  let input = [{ role: 'user', content: task }];
  let previous;
  while (true) {
    const answer = await client.responses.create({
      model: 'gpt-5', instructions: system, input, reasoning: { effort: 'low' },
      ...(stored ? { previous_response_id: previous } : { store: false, include: ['reasoning.encrypted_content'] }),
      tools: eachTool((tool, params) => ({
        type: 'function', name: tool, description: tool, parameters: jsonSchema(params), strict: true,
      })),
    });
    const results = answer.output.filter((item) => item.type === 'function_call').map((c) => ({
      type: 'function_call_output', call_id: c.call_id, output: call(c.name, JSON.parse(c.arguments)),
    }));
    if (!results.length) return answer.output_text;
    previous = answer.id;
    input = stored ? results : [...input, ...answer.output, ...results];
  }
}

async function openaiAgents() {
  const { Agent, run, tool, setTracingDisabled } = await import('@openai/agents');
  setTracingDisabled(true);
  const agent = new Agent({
    name: 'mender', model: 'gpt-5', instructions: system,
    tools: eachTool((n, params) => tool({
      name: n, description: n, parameters: zodSchema(params), execute: async (args) => call(n, args),
    })),
  });
  return (await run(agent, task, { maxTurns: 50 })).finalOutput;
}

async function aiSDK(model) {
  const { streamText, tool, stepCountIs } = await import('ai');
  const answer = streamText({
    model, system, prompt: task, stopWhen: stepCountIs(50),
    tools: Object.fromEntries(eachTool((n, params) => [n, tool({
      description: n, inputSchema: zodSchema(params), execute: async (args) => call(n, args),
    })])),
    onError: ({ error }) => { throw error; },
  });
  return answer.text;
}

async function langChain(model) {
  const { createAgent, tool } = await import('langchain');
  const agent = createAgent({
    model, systemPrompt: system,
    tools: eachTool((n, params) => tool(async (args) => call(n, args), {
      name: n, description: n, schema: zodSchema(params),
    })),
  });
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: task }] }, { recursionLimit: 150 });
  return messages.at(-1).text;
}

async function googleGenAI() {
  const { GoogleGenAI } = await import('@google/genai');
  const client = new GoogleGenAI({
    apiKey: process.env.GEMINI_API_KEY, httpOptions: { retryOptions: { attempts: 5 } },
  });
  const contents = [{ role: 'user', parts: [{ text: task }] }];
  while (true) {
    const answer = await client.models.generateContent({
      model: 'gemini-2.5-pro', contents,
      config: {
        systemInstruction: system,
        tools: [{
          functionDeclarations: eachTool((tool, params) => ({
            name: tool, description: tool, parametersJsonSchema: jsonSchema(params),
          })),
        }],
      },
    });
    contents.push(answer.candidates[0].content);
    if (!answer.functionCalls?.length) return answer.text;
    contents.push({
      role: 'user',
      parts: answer.functionCalls.map((c) => ({
        functionResponse: { id: c.id, name: c.name, response: { output: call(c.name, c.args) } },
      })),
    });
  }
}

const loops = {
  anthropic,
  'openai-chat': openaiChat,
  'openai-responses': () => openaiResponses(false),
  'openai-responses-stored': () => openaiResponses(true),
  'openai-agents': openaiAgents,
  'ai-sdk-anthropic': async () => aiSDK((await import('@ai-sdk/anthropic')).anthropic('claude-sonnet-4-5')),
  'ai-sdk-openai': async () => aiSDK((await import('@ai-sdk/openai')).openai('gpt-5')),
  'langchain-anthropic': async () => {
    const { ChatAnthropic } = await import('@langchain/anthropic');
    return langChain(new ChatAnthropic({ model: 'claude-sonnet-4-5', streaming: true }));
  },
  'langchain-openai': async () => {
    const { ChatOpenAI } = await import('@langchain/openai');
    return langChain(new ChatOpenAI({ model: 'gpt-4o' }));
  },
  'google-genai': googleGenAI,
};
console.log(await loops[name]());
