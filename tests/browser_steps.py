"""What the browser tests do again and again."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

MINUTE = 60_000
QRN = [sys.executable, "-m", "query_reduction"]


def tell(page: Page, *sentences: str, question: str) -> None:
    """Write a story by keyboard."""
    page.get_by_role("button", name="Clear").click()
    page.locator("#sentences textarea").first.focus()
    for number, sentence in enumerate(sentences):
        if number:
            page.keyboard.press("Enter")
        page.keyboard.type(sentence)
    page.locator("#question").fill(question)
    page.keyboard.press("Enter")


def paste(page: Page, text: str) -> None:
    """Paste a text where the caret is."""
    page.evaluate(
        """(story) => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text", story);
          const paste = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
          document.activeElement.dispatchEvent(paste);
        }""",
        text,
    )
