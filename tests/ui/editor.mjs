// editor.mjs - what the tests of the constructor do to a page: as a person would, by labels and names.
import { equal } from '../lib/claims.mjs';

/** The field of the inspector with this label; of several the last, which is the one that was added. */
export const field = (page, label, within = '.inspector') => page.locator(`${within} .fld:has(> .flh label:text-is("${label}"))`).last();

/** Fill in a field; one that is not shown yet is added first. */
export async function fill(page, label, value, within) {
    const box = field(page, label, within);
    if ((await box.count()) === 0) await page.locator(`${within ?? '.inspector'} .addf:text-is("${label}")`).last().click();
    const control = box.locator('input, textarea, select').last();
    if ((await control.evaluate((el) => el.tagName)) === 'SELECT') await control.selectOption(value);
    else await control.fill(value);
}

/** Put in a step behind what is chosen, and give it a name. */
export async function addStep(page, part, name, code) {
    await page.fill('.psearch input', part);
    await page.press('.psearch input', 'Enter');
    // A new step asks for its name: what is typed before that would go there.
    await page.waitForFunction(() => document.activeElement?.matches('.inspector .isect.two textarea'));
    await page.fill('.inspector .isect.two textarea', name);
    await page.keyboard.press('Tab'); // the code goes with the name
    if (code) {
        await page.fill('.inspector .isect.two input', code);
        await page.press('.inspector .isect.two input', 'Enter');
        await page.waitForSelector(`[data-code="${code}"]`);
    }
}

/** Add an item to a list that is made of fields, and fill those in. */
export async function addItem(page, list, values) {
    const box = field(page, list);
    if ((await box.count()) === 0) await page.locator(`.inspector .addf:text-is("${list}")`).last().click();
    // A list that must not be empty begins with an item that is.
    const isFresh = (await box.locator(':scope > .list > .titem').count()) === 1 && / 1$/.test(await box.locator(':scope > .list > .titem > .thd .fold').innerText());
    if (!isFresh) await box.locator(':scope > .list > .btn').last().click();
    const item = box.locator('.titem.open').last();
    for (const [label, value] of Object.entries(values)) {
        const own = item.locator(`.fld:has(> .flh label:text-is("${label}"))`);
        if ((await own.count()) === 0) await item.locator(`.addf:text-is("${label}")`).click();
        if (value === true) await own.locator('[role=radio]:text-is("yes")').click();
        else if (await own.locator('[role=radio]:text-is("Write")').count()) {
            await own.locator('[role=radio]:text-is("Write")').click();
            await own.locator('textarea').fill(value);
        } else {
            const control = own.locator('input, textarea, select').last();
            if ((await control.evaluate((el) => el.tagName)) === 'SELECT') await control.selectOption(value);
            else await control.fill(value);
        }
    }
}

/** Add a named value to a field that is a mapping. */
export async function addPair(page, list, name, value) {
    const box = field(page, list);
    await box.locator('.btn:has-text("Add a field")').last().click();
    const row = box.locator('.kvrow').last();
    await row.locator('.key').fill(name);
    await row.locator('.val textarea, .val input').last().fill(value);
}

/** What was typed or pressed before is on the server: a press is drawn first, in two frames at most. */
export const saved = async (page) => {
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    await page.waitForFunction(() => /^saved/.test(document.querySelector('.savedword')?.textContent ?? ''));
};
export const noProblems = async (page) => {
    await page.waitForSelector('.problems .gl.c-ok').catch(async () => equal(await page.locator('.problems').innerText(), 'none', 'problems'));
};
