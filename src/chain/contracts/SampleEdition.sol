// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.28;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {ERC1155Burnable} from "@openzeppelin/contracts/token/ERC1155/extensions/ERC1155Burnable.sol";

/// @title ERC-1155 of the sample world
contract SampleEdition is ERC1155Burnable, Ownable {
    string public name;
    string public symbol;

    constructor(
        string memory name_,
        string memory symbol_
    )
        ERC1155('data:application/json,{"name":"Sample Edition","description":"Made for trying things out"}')
        Ownable(msg.sender)
    {
        name = name_;
        symbol = symbol_;
    }

    function mint(address to, uint256 id, uint256 amount) external onlyOwner {
        _mint(to, id, amount, "");
    }

    function mintBatch(address to, uint256[] calldata ids, uint256[] calldata amounts) external onlyOwner {
        _mintBatch(to, ids, amounts, "");
    }
}
